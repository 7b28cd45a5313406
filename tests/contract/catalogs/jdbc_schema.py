"""What Iceberg's Java JdbcCatalog 1.12.0 creates in SQLite, letter for letter; the tests on Spark hold it to that."""

V0 = {
    "iceberg_tables": "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,"
    "table_namespace VARCHAR(255) NOT NULL,table_name VARCHAR(255) NOT NULL,metadata_location VARCHAR(1000),"
    "previous_metadata_location VARCHAR(1000),PRIMARY KEY (catalog_name, table_namespace, table_name))",
    "iceberg_namespace_properties": "CREATE TABLE iceberg_namespace_properties(catalog_name VARCHAR(255) NOT NULL,"
    "namespace VARCHAR(255) NOT NULL,property_key VARCHAR(255),property_value VARCHAR(1000),"
    "PRIMARY KEY (catalog_name, namespace, property_key))",
}

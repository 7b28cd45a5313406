"""Backup and disaster recovery for Apache Iceberg tables. Executors import this first, so it imports nothing."""

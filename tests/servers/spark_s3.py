"""What Spark needs to read and write tables in S3: the AWS SDK as Iceberg bundles it. A backup needs none of it."""

import os

from bergung.spark import jars
from bergung.spark.session import default_cache

AWS_JAR = jars.Jar(
    "org.apache.iceberg", "iceberg-aws-bundle", "1.12.0", "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957"
)


def add_s3_jar() -> None:
    """For every JVM that this process starts from here on; at the end of the class path, so that the archive of classes fits."""
    place = jars.ensure(default_cache(), (AWS_JAR,))[0]
    os.environ["SPARK_DIST_CLASSPATH"] = str(place)

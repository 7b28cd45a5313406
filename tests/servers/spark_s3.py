"""What Spark needs to read and write tables in S3: the AWS SDK as Iceberg bundles it. A backup needs none of it."""

import os

from bergung.spark import jars
from bergung.spark.session import default_cache


def add_s3_jar() -> None:
    """For every JVM that this process starts from here on; at the end of the class path, so that the archive of classes fits."""
    place = jars.ensure(default_cache(), jars.FOR_S3)[0]
    os.environ["SPARK_DIST_CLASSPATH"] = str(place)

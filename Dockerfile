# Bergung with Python and a Java that Spark can use; the vault and the catalogs are mounted or reached from outside.
FROM python:3.12-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN pip install --no-cache-dir /src && rm -rf /src

# The jars and the archive of classes are made here, so that no run of a container waits for them.
ENV BERGUNG_CACHE=/var/cache/bergung PYTHONUNBUFFERED=1
RUN python -m bergung.spark.prepare && chmod -R a+rwX /var/cache/bergung

RUN useradd --create-home bergung
USER bergung
WORKDIR /home/bergung
ENTRYPOINT ["bergung"]

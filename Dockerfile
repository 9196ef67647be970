# The image of worker and sweeper; `docker run umg-search:0.1.0 --help` shows all other commands.
FROM python:3.11.14-slim-bookworm

ENV PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /opt/umg-search

# Dependencies first: they change seldom. Hashes in the lock pin every package.
COPY requirements.lock ./
RUN pip install --no-deps --require-hashes -r requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY es_mappings es_mappings
COPY umg_search umg_search
COPY ingest ingest
COPY tasks tasks
RUN pip install --no-deps --no-build-isolation . \
    && useradd --create-home --uid 10001 umg \
    && mkdir /models && chown umg /models

USER umg
ENTRYPOINT ["umg"]
CMD ["--help"]

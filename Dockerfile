# The hub in one image. `docker build -t a2a-hub .` builds it; docs/operate/deploy.md says how to run it.
ARG PYTHON_IMAGE=docker.io/library/python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS packages
WORKDIR /opt/a2a-hub
COPY requirements/install.sh requirements/base.txt requirements/
COPY clients/python clients/python
RUN PYTHON=python3 requirements/install.sh requirements/base.txt clients/python

FROM packages AS site
COPY requirements/docs.txt requirements/
RUN VENV=.venv-docs PYTHON=python3 requirements/install.sh requirements/docs.txt
COPY CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY clients/javascript/README.md clients/javascript/
COPY docs docs
RUN .venv-docs/bin/python docs/lay_out.py site/new && .venv-docs/bin/zensical build --config-file site/new/zensical.toml

FROM ${PYTHON_IMAGE}
# tini passes stop signals on and reaps orphans. pg_dump and psql make and restore backups of PostgreSQL.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends tini postgresql-client \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/a2a-hub a2a \
    && install -d -o a2a -g a2a -m 0700 /var/lib/a2a-hub
WORKDIR /opt/a2a-hub
COPY --from=packages /opt/a2a-hub/.venv .venv
COPY --from=site /opt/a2a-hub/site/new/html site/html
COPY . .
COPY --from=packages /opt/a2a-hub/clients/python/src/a2a_hub_client/_sync clients/python/src/a2a_hub_client/_sync
RUN .venv/bin/python -m compileall -q a2aproject agentcards clients dashboard mailbox \
    && A2A_VAR=/tmp/var .venv/bin/python manage.py collectstatic --noinput --verbosity 0 --ignore redoc \
    && rm -rf /tmp/var
ENV PATH=/opt/a2a-hub/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    BIND_HOST=0.0.0.0 \
    PORT=3000 \
    A2A_VAR=/var/lib/a2a-hub
USER 10001:10001
VOLUME /var/lib/a2a-hub
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 CMD ["python", "deploy/health.py"]
ENTRYPOINT ["tini", "--", "python", "manage.py"]
CMD ["serve"]

# Sourced by ./dev: makes the environment once per lock file and checkout, and finds Java.
# After the first time this costs a few milliseconds: one hash, two tests.

say() { echo "dev: $*" >&2; }
fail() { echo "error: $1" >&2; echo "hint: $2" >&2; exit 2; }

environment() {
    local key
    key=$(echo "$here ${BERGUNG_PYTHON:-}" | sha256sum)
    venv=$BERGUNG_CACHE/envs/${key:0:16}
    lock=$(sha256sum <"$here/requirements.lock")
    # Set on some machines, it would make every start of Python compile everything again.
    unset PYTHONDONTWRITEBYTECODE
    export PYTHONPYCACHEPREFIX=$BERGUNG_CACHE/pycache RUFF_CACHE_DIR=$BERGUNG_CACHE/ruff
    export MYPY_CACHE_DIR=$BERGUNG_CACHE/mypy HYPOTHESIS_STORAGE_DIRECTORY=$BERGUNG_CACHE/hypothesis
    is_ready || make_environment
    export PATH=$venv/bin:$PATH VIRTUAL_ENV=$venv
}

is_ready() {
    [ -f "$venv/ready" ] && [ "$(<"$venv/ready")" = "$lock" ] && [ -x "$venv/bin/python" ]
}

make_environment() {
    mkdir -p "$BERGUNG_CACHE/envs"
    # Two ./dev at once: the second waits and finds the work done.
    exec 9>"$BERGUNG_CACHE/envs/lock"
    flock 9
    if ! is_ready; then
        say "making the environment in $venv (once for each requirements.lock; Spark is 450 MB)"
        local python uv
        python=$(find_python)
        uv=$(find_uv "$python")
        install_locked "$uv" "$python" || fail "the environment could not be made" "read the lines above; run ./dev again when the cause is gone"
    fi
    exec 9>&-
}

find_python() {
    local name
    for name in ${BERGUNG_PYTHON:-python3 python python3.14 python3.13 python3.12 python3.11}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    fail "no Python 3.11 or newer was found" "install python3 (3.11 or newer), or name one: BERGUNG_PYTHON=/path/to/python3 ./dev help"
}

find_uv() {
    command -v uv && return
    local bootstrap=$BERGUNG_CACHE/uv
    if [ ! -x "$bootstrap/bin/uv" ]; then
        say "installing uv into $bootstrap"
        rm -rf "$bootstrap"
        "$1" -m venv "$bootstrap" >&2 || fail "Python's venv module does not work" "on Debian and Ubuntu: apt-get install python3-venv"
        "$bootstrap/bin/python" -m pip install --quiet --disable-pip-version-check 'uv>=0.9' >&2 \
            || fail "uv could not be installed" "look at pip's message above; or put uv on PATH"
    fi
    echo "$bootstrap/bin/uv"
}

# With digests and by name, so that a machine's own index or wheel folder is used: the lock names no place.
install_locked() {
    local uv=$1 python=$2
    prepare_uv "$python"
    if [ ! -x "$venv/bin/python" ]; then
        rm -rf "$venv"
        "$uv" venv --quiet --no-project --python "$python" "$venv" || return 1
    fi
    # In place, and nothing is removed: a test that runs beside this keeps its modules, Spark's archive its paths.
    "$uv" pip install --quiet --require-hashes --python "$venv/bin/python" -r "$here/requirements.lock" \
        && "$uv" pip install --quiet --no-deps --python "$venv/bin/python" --editable "$here" \
        && echo "$lock" >"$venv/ready"
}

# Pins every version for every system; what is pinned already stays, unless --upgrade says otherwise.
write_lock() {
    local python uv
    python=$(find_python)
    uv=$(find_uv "$python")
    prepare_uv "$python"
    "$uv" pip compile --quiet --universal --generate-hashes --no-header --no-annotate --all-extras --group "$here/pyproject.toml:dev" \
        --python-version 3.11 --output-file "$here/requirements.lock" "$@" "$here/pyproject.toml" >/dev/null \
        && "$python" "$here/tools/lock.py" mark
}

prepare_uv() {
    export UV_NO_PROGRESS=1 UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true} UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-180}
    [ -n "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ] || use_index_of_pip "$1"
    [ -n "${UV_FIND_LINKS:-}" ] || use_links_of_pip
}

use_index_of_pip() {
    local index
    index=${PIP_INDEX_URL:-$("$1" -m pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX=$index
}

# pip passes over a folder that is not there, uv would stop.
use_links_of_pip() {
    local link links=""
    for link in ${PIP_FIND_LINKS:-}; do
        case $link in *://*) ;; *) [ -d "$link" ] || continue ;; esac
        links=$links${links:+,}$link
    done
    [ -z "$links" ] || export UV_FIND_LINKS=$links
}

# What Spark's first start would otherwise wait for: the jars, and the archive of classes.
prepare() {
    need_java
    is_prepared && return
    exec 9>"$BERGUNG_CACHE/prepare.lock"
    flock 9
    is_prepared || { "$venv/bin/python" "$here/tools/prepare.py" && echo "$lock" >"$venv/prepared-${JAVA_HOME##*/}"; } || exit 2
    exec 9>&-
}

is_prepared() {
    local stamp=$venv/prepared-${JAVA_HOME##*/}
    [ -f "$stamp" ] && [ "$(<"$stamp")" = "$lock" ] && [ -d "$BERGUNG_CACHE/jars" ] && [ -d "$BERGUNG_CACHE/archives" ]
}

# Java 17 or 21, remembered per JAVA_HOME given; installs it where that is possible.
need_java() { find_java install || exit 2; }

find_java() {
    local remembered=$BERGUNG_CACHE/java given=${JAVA_HOME:-} was home
    if [ -f "$remembered" ] && { IFS= read -r was && IFS= read -r home; } <"$remembered" \
        && [ "$was" = "given=$given" ] && [ -x "$home/bin/java" ]; then
        export JAVA_HOME=$home
        return
    fi
    home=$("$venv/bin/python" "$here/tools/java.py" "$@") || return 1
    printf 'given=%s\n%s\n' "$given" "$home" >"$remembered.$$" && mv "$remembered.$$" "$remembered"
    export JAVA_HOME=$home
}

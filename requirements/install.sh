#!/bin/sh
# Install one pinned requirements file into .venv, or the environment that VENV names. It is made when it is missing.
# The folders of PROJECT are installed, too, as links to their sources. The file must pin all that they need.
# Usage: PYTHON=python3 VENV=.venv requirements/install.sh FILE [PROJECT ...]
# With uv on the PATH it is used for speed; otherwise the standard library's venv and pip do the same.
# Neither leaves pip or setuptools behind unless the file pins them: the bundled ones have known weaknesses.
set -eu

file=$1
shift
python=${PYTHON:-python3}
venv=${VENV:-.venv}

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

has_uv() {
    command -v uv >/dev/null 2>&1
}

is_usable() {
    [ -x "$venv/bin/python" ] || return 1
    if has_uv; then "$venv/bin/python" -c ''; else "$venv/bin/python" -c 'import ensurepip'; fi >/dev/null 2>&1
}

make_venv() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        fail "$python is missing or older than 3.11. Name another one: make PYTHON=/path/to/python3"
    echo "Making $venv with $("$python" --version)"
    rm -rf "$venv"
    if has_uv; then
        uv venv --quiet --python "$python" "$venv"
        return
    fi
    log=$(mktemp)
    { "$python" -m venv --without-pip "$venv" && add_pip; } >"$log" 2>&1 || {
        cat "$log" >&2
        rm -rf "$venv" "$log"
        fail "" "$python cannot make virtual environments with pip." \
            "On Debian or Ubuntu: apt install python3-venv. Or put uv on the PATH."
    }
    rm -f "$log"
}

add_pip() {
    "$venv/bin/python" -m ensurepip --default-pip
}

remove_pip() {
    for name in setuptools pip; do
        grep -q "^$name==" "$file" && continue
        "$venv/bin/python" -c "import $name" 2>/dev/null || continue
        if has_uv; then
            uv pip uninstall --quiet --python "$venv/bin/python" "$name"
        else
            "$venv/bin/python" -m pip --quiet --disable-pip-version-check uninstall --yes "$name"
        fi
    done
}

install() {
    if has_uv; then
        uv pip install --quiet --python "$venv/bin/python" "$@"
    else
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
}

is_usable || make_venv

echo "Installing $file (up to a minute)"
if has_uv; then
    install --compile-bytecode --require-hashes -r "$file"
else
    add_pip >/dev/null 2>&1
    install --require-hashes -r "$file"
fi
for project in "$@"; do
    install --no-index --no-deps --no-build-isolation --editable "$project"
done
remove_pip

# Sourced by the scripts of this folder: what the artefacts share.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
umask 022
# The time of the last commit is the time of every file.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8

# Prints the lowest glibc that a program needs, by its symbols and by how it is relocated.
lowest_glibc() {
  objdump -p "$1" | sed -n 's/.* GLIBC_ABI_DT_RELR$/2.36/p; s/.* GLIBC_\([0-9.]*\)$/\1/p' | sort -uV | tail -1
}

# Prints a tar of a folder's content: the same bytes for the same content.
pack() {
  tar --create --directory "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --format=gnu "${@:2}"
}

# A copy of the sources, in which a script may change and build what it likes. Behind tools/common.sh.
# shellcheck shell=bash

# Sets $tree. What is built there stays for the next time.
use_tree() { # FOLDER
  tree=$1
  export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
}

# The sources as they are now. What is built there stays, for the next time; a file that differs is newer than what was
# made of it.
copy_tree() {
  local f
  mkdir -p "$tree"
  (cd "$root" && git ls-files --cached --others --exclude-standard) | while IFS= read -r f; do
    [[ -f $root/$f ]] || continue
    printf '%s\n' "$f"
    cmp -s "$root/$f" "$tree/$f" && continue
    mkdir -p "$tree/$(dirname "$f")"
    cp "$root/$f" "$tree/$f"
  done | LC_ALL=C sort >"$tree.files"
  (cd "$tree" && find . -path ./build -prune -o -type f -printf '%P\n' | LC_ALL=C sort | comm -23 - "$tree.files" |
    while IFS= read -r f; do rm -f "$f"; done)
}
in_tree() { (root=$tree; "$@"); }

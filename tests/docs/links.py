#!/usr/bin/env python3
"""Links between the project's pages lead somewhere, and the index of docs/ is complete.

usage: tests/docs/links.py [ROOT [FOLDER]]
Every relative link of every *.md below ROOT (or its FOLDER): its file exists, and so does the heading it names. Every
page below docs/ is in docs/README.md.
"""
import pathlib
import re
import sys

SKIPPED = {"build", ".git"}


def pages(root):
    return sorted(p for p in root.rglob("*.md") if not SKIPPED & set(p.relative_to(root).parts[:1]))


def without_code(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """Headings as GitHub names them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        n, unique = 0, slug
        while unique in found:
            n += 1
            unique = f"{slug}-{n}"
        found.add(unique)
    return found


def links(text):
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_code(text))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    folder = root / sys.argv[2] if len(sys.argv) > 2 else root
    failed = checked = 0
    for page in pages(root):
        if folder not in page.parents:
            continue
        for link in links(page.read_text()):
            if re.match(r"[a-z]+:", link):
                continue
            checked += 1
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            where = page.relative_to(root)
            if not target.exists():
                print(f"{where}: {link}: there is no {file}")
                failed += 1
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                print(f"{where}: {link}: {target.name} has no heading '{anchor}'")
                failed += 1
    index = root / "docs/README.md"
    listed = {(index.parent / link.partition("#")[0]).resolve() for link in links(index.read_text())}
    for page in pages(root / "docs"):
        if page != index and page not in listed:
            print(f"docs/README.md does not list {page.relative_to(index.parent)}")
            failed += 1
    if checked < 20:
        sys.exit(f"only {checked} links found under {root}")
    print(f"{checked} links, {failed} not as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

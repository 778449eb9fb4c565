import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { judge, type PermissionPolicy } from "./permissions.ts"

let root = ""
let project = ""

const git = (directory: string, ...args: readonly string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: directory, stdio: "pipe" })
function file(path: string, text = "text\n"): void {
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), text)
}

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-hostile-")))
  project = join(root, "project")
  mkdirSync(join(root, "outside", "sub"), { recursive: true })
  writeFileSync(join(root, "outside", "f"), "OUTSIDE\n")
  for (const path of [
    "a",
    "list",
    "src/a.ts",
    "src/b.ts",
    "sub/conf",
    "sub/x.txt",
    "cfg/key.pem",
    "other/key",
    "docs/x.md",
  ])
    file(path)
  for (const path of ["timeout", "env", "cd", "read", "bash", "command", "bin/ls", "0/echo"]) file(path, "#!/bin/sh\n")
  git(project, "init", "-q")
  git(project, "add", "src", "cfg")
  git(project, "commit", "-qm", "first")
  file(".env", "DENIED\n") // not tracked by git
  symlinkSync(join(root, "outside", "f"), join(project, "other", "out"))
  symlinkSync(join(root, "outside"), join(project, "other", "link"))
  git(project, "init", "-q", "evil")
  git(join(project, "evil"), "config", "core.fsmonitor", "./run")
  file("rust/rust-toolchain.toml", '[toolchain]\npath = "."\n')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Change extends Partial<PermissionPolicy> {
  readonly hasSandbox?: boolean
}

function verdict(line: string, { hasSandbox = false, ...change }: Change = {}): string {
  const env = { HOME: join(root, "home"), PATH: "/usr/bin", SECRET: "x" }
  const command = commandFacts(line, { directory: project, env, hasSandbox })
  const question = { kind: "execute", summary: line, subject: line, command } as const
  const policy = {
    mode: "ask",
    allow: [],
    ask: [],
    deny: [],
    project,
    protectedDirectories: [],
    home: join(root, "home"),
    ...change,
  } as const
  return judge({ tool: "Bash", isReadOnly: false, question }, policy).verdict
}
const linesOf = (text: string): readonly string[] => text.trim().split("\n")
const unasked = (lines: readonly string[], change: Change = {}) =>
  lines.filter((line) => verdict(line, change) === "allow")

describe("PERM-4 what a line does is known, or it is asked about", () => {
  test("a program called by its path is not the known one of this name", () => {
    const lines = linesOf(`
./timeout 5 ls
./env ls
./cd sub
./read x
./bash -c ls
./command -v ls
sub/../env ls`)
    expect(unasked(lines)).toEqual([])
  })

  test("every way to set a variable that the shell obeys", () => {
    const lines = linesOf(`
for PATH in ./bin; do ls; done
select PATH in bin; do ls; done < a
test -n "\${CDPATH:=../outside}"; cd sub; cat conf
[[ -n \${CDPATH:=../outside} ]] && cd sub && cat conf
mapfile -t PATH <<< bin; ls
readarray PATH <<< bin; ls
echo x | xargs --process-slot-var=PATH echo
LANGUAGE=../../x ls
x=a:~/f; cat "$x"`)
    expect(unasked(lines)).toEqual([])
  })

  test("a value of the environment is not given to a program, which may print it in an error message", () => {
    const lines = linesOf(`
head -n "$SECRET" a
date -d "$SECRET"
seq -s "$SECRET" 3
ls --sort "$SECRET"
find . -printf "$SECRET"
git log --format "$SECRET" -1
stat -c "$SECRET" a
jq -n --arg x "$SECRET" '$x'
xargs -n "$SECRET" echo < a
f() { echo "$1"; }; f "$SECRET"
test -n "$SECRET"; echo $_
set -x; test -n "$SECRET"
ps -auxeww
ps -axe
ps -e -u nosuch
ps -eo pid,nosuch
jq -n '$ ENV'
awk 'BEGIN{print 1ENVIRON["SECRET"]}'`)
    expect(unasked(lines)).toEqual([])
  })

  test("programs of sed and awk are code", () => {
    const lines = [
      `awk 'BEGIN{1system("id")}'`,
      `awk 'BEGIN{ # "\n system("id") # "\n}'`,
      `awk 'BEGIN{ # "\n print "x" > "f" # "\n}'`,
      `awk 'BEGIN{while((1getline l < "/etc/passwd")>0) print l}'`,
      "sed 's/[/]/p;s/w out/g/' a",
      "sed 's/[[:alpha:]/]/p;s/w out/g/' a",
      String.raw`sed 's/[a\]/]/p;s/w out/g/' a`,
    ]
    expect(unasked(lines)).toEqual([])
  })

  test("what a builtin or a wrapper starts counts: callbacks, start files, output files, other directories", () => {
    const lines = linesOf(`
mapfile -C 'touch x #' -c 1 y < a
command cd evil; git status
builtin cd evil; git status
bash --rcfile ./a -ic ls
bash --init-file a -i -c ls
command time -o out ls
/usr/bin/time --output=out ls
unzip a`)
    expect(unasked(lines)).toEqual([])
  })

  test("only what is sure to print paths may feed xargs", () => {
    const lines = linesOf(`
find sub -name none | head --verbose | xargs cat
find sub | grep -r . | xargs cat
printf x | grep -l --label=../outside/f x | xargs cat
grep -l --label=../outside/f x <<< x | xargs cat
find sub | tac -s / | xargs cat
rg --files sub --stats | xargs cat
find sub | xargs -d : cat
find sub -print0 | xargs cat
find sub -print | xargs -0 cat
git ls-files .. | xargs cat
git ls-files -s | xargs cat
echo ../outside/f | xargs -I X -I Y cat Y
echo ../outside/f | xargs -I X -L 1 cat a`)
    expect(unasked(lines)).toEqual([])
  })

  test("directories that are compared, and patterns that are matched outside the project", () => {
    const lines = linesOf(`
diff other sub
diff -u sub other
echo ../outside/*
for f in /root/*; do echo $f; done
printf '%s' other/link/*`)
    expect(unasked(lines)).toEqual([])
  })

  test("a line that goes on in the next one is read as bash joins it", () => {
    const lines = [
      "cat ~\\\n/f",
      "cat x:\\\n~/f",
      "echo $\\\nSECRET",
      'echo "$\\\nSECRET"',
      "cat <<E\n$\\\nSECRET\nE",
      "P\\\nATH=bin; ls",
      "cat .\\\n./outside/f",
    ]
    expect(unasked(lines)).toEqual([])
    expect(verdict("ls src \\\n  docs")).toBe("allow")
  })

  test("a toolchain file of the project decides what cargo is", () => {
    expect(verdict("cargo --version")).toBe("allow")
    expect(verdict("cd rust && cargo --version")).toBe("ask")
    expect(verdict("echo x > rust-toolchain.toml; cargo --version", { mode: "accept-edits" })).toBe("ask")
  })
})

describe("PERM-4 what git shows is judged by the rules for Read", () => {
  const deny = ["Read(*.pem)"]
  const SHOWING = linesOf(`
git diff
git diff HEAD
git diff --stat -p
git diff -- cfg
git diff -- '*.pem'
git diff -- ':(top)cfg'
git log -p
git log -u -1
git log --cc
git log -L1,1:cfg/key.pem
git show
git show HEAD
git show --stat 1234567
git show HEAD:cfg/key.pem
git show 'HEAD@{2030-01-01 10:00:00}:cfg/key.pem'
git cat-file -p 1234567
git stash show -p
git reflog -p
git status -vv
git grep text
git grep text -- cfg
cd src && git show HEAD:cfg/key.pem
cd src && git show HEAD:../cfg/key.pem
cd src && git diff`)
  const NOT_SHOWING = linesOf(`
git diff -- src
git diff src/a.ts
git diff --stat
git diff --name-only HEAD
git log --oneline -3
git log --stat -3 -- src
git log -p -- src
git show --stat HEAD
git show HEAD:src/a.ts
git status
git grep text -- src
git grep -l text
cd src && git grep text`)

  test("a tracked file that Read is denied makes git ask", () => {
    expect(unasked(SHOWING, { deny })).toEqual([])
    expect(unasked(NOT_SHOWING, { deny })).toEqual(NOT_SHOWING)
    expect(unasked(SHOWING.filter((line) => !/stash|cat-file/.test(line)))).toHaveLength(SHOWING.length - 2)
  })

  test("a denied file that git does not track changes nothing for git", () => {
    const lines = ["git diff", "git show HEAD", "git log -p", "git grep text"]
    expect(unasked(lines, { deny: ["Read(.env)"] })).toEqual(lines)
  })
})

test("PERM-4 daily work in other kinds of projects is not asked about", () => {
  const lines = linesOf(`
git shortlog -sn
git ls-files '*.ts' | wc -l
git diff --name-only main...HEAD
find src -name '*.ts' -print0 | xargs -0 wc -l
find src -type f -newer a
find src -name '*.ts' | sort | head -5 | xargs wc -l
grep -rl text src | xargs wc -l
rg -l foo -g '*.ts' src | xargs head -1
xargs -n1 basename < list
diff <(sort a) <(sort list)
sed -n '10,20p;30p' a
awk -F, '{print $2}' a
awk '$3 > 100 {print $1}' a
jq -r '.a[]' list
ps aux
ps -ef | grep node
ps -eo pid,cmd --sort=-%mem | head
for f in docs/*.md; do wc -l "$f"; done
test -d src && ls src || echo none
git status --porcelain | cut -c4-
LC_ALL=C sort -u a list
python3 --version; pip --version; go version; rustc --version; uv --version`)
  expect(lines.filter((line) => verdict(line, { hasSandbox: true }) !== "allow")).toEqual([])
  expect(lines.filter((line) => verdict(line) !== "allow")).toMatchInlineSnapshot(`
    [
      "find src -name '*.ts' -print0 | xargs -0 wc -l",
      "find src -name '*.ts' | sort | head -5 | xargs wc -l",
      "grep -rl text src | xargs wc -l",
      "rg -l foo -g '*.ts' src | xargs head -1",
      "xargs -n1 basename < list",
      "diff <(sort a) <(sort list)",
      "awk -F, '{print $2}' a",
      "awk '$3 > 100 {print $1}' a",
      "jq -r '.a[]' list",
      "for f in docs/*.md; do wc -l "$f"; done",
      "LC_ALL=C sort -u a list",
    ]
  `)
})

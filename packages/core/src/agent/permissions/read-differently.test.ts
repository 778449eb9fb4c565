/** Lines that a program or a shell interprets differently from how they look. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { quietGit } from "../tools/shell/quiet-git.ts"
import { neededEnvironment } from "../tools/shell/shell-environment.ts"
import type { PermissionPolicy } from "./permission-policy.ts"
import { judge } from "./permissions.ts"

let root = ""
let project = ""
const before = process.cwd()

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-read-differently-")))
  project = join(root, "project")
  for (const directory of ["sub", "empty", "deep/er"]) mkdirSync(join(project, directory), { recursive: true })
  writeFileSync(join(root, "outside"), "outside")
  for (const name of ["README", "x", "8", ".env", "deep/er/secret"]) writeFileSync(join(project, name), name)
  writeFileSync(join(project, "options"), "../outside")
  for (const link of ["5", "foo.gz", "foo.zip", "sub/x"]) symlinkSync(join(root, "outside"), join(project, link))
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", project, ...args], { env: quietGit(process.env) })
  git("init", "-q")
  git("add", "-f", "README", ".env", "deep")
  process.chdir(project)
})
afterAll(() => {
  process.chdir(before)
  rmSync(root, { recursive: true, force: true })
})

function judged(line: string, given: Partial<PermissionPolicy> = {}, at = project) {
  const env = { HOME: join(root, "home"), PATH: "/usr/bin:/bin" }
  const command = commandFacts(line, { directory: at, project: at, env })
  const question = { kind: "execute", summary: line, subject: line, command } as const
  const policy = {
    mode: "ask",
    allow: [],
    ask: [],
    deny: [],
    project: at,
    protectedDirectories: [],
    home: env.HOME,
    ...given,
  } as const
  return judge({ tool: "Bash", isReadOnly: false, question }, policy).verdict
}

describe("PERM-9 what a program does with its words", () => {
  test.each([
    ["xxd reads the first letter of an option only, and writes its second file", "xxd -bc 8 out"],
    ["tree takes every value from the next word, and -o names a file to write", "tree -Ho url out"],
    ["tree -I is no different", "tree -aIo x out"],
    ["column -n has a value on some systems", "column -tnc 5 README"],
    ["strings takes words from a file", "strings @options"],
    ["zcat adds an ending", "zcat -f foo"],
    ["unzip adds an ending", "unzip -l foo"],
    ["unzip takes a pattern", "unzip -l 'fo?.zip'"],
    ["git's --unified needs no value", "git diff --unified ../outside README"],
    ["printf can set PATH, and then a directory of the project is searched", "printf %n PATH; ls"],
    ["printf with a width", "printf '%-5ln' PATH; ls"],
  ])("%s", (_, line) => {
    expect(judged(line)).toBe("ask")
  })

  test.each(["git diff --unified=5 README", "printf '%s\\n' 100%"])("%s runs unasked", (line) => {
    expect(judged(line)).toBe("allow")
  })

  test("git blame's --abbrev needs no value", () => {
    expect(judged("git blame --abbrev .env", { deny: ["Read(.env)"] })).toBe("deny")
  })

  test("ripgrep searches hidden files that a pattern or a type names", () => {
    const deny = ["Read(.env)"]
    for (const line of ["rg -g .env x", "rg --glob='.*' x", "rg --iglob .ENV x", "rg -t sh x"])
      expect(judged(line, { deny }), line).toBe("ask")
    expect(judged("rg x", { deny })).toBe("allow")
  })

  test("outside a repository, git diff shows all files of two directories", () => {
    const plain = join(root, "plain")
    mkdirSync(join(plain, "empty"), { recursive: true })
    mkdirSync(join(plain, "full"))
    writeFileSync(join(plain, "full/.env"), "secret")
    expect(judged("git diff empty full", { deny: ["Read(.env)"] }, plain)).toBe("ask")
  })
})

describe("PERM-9 file patterns", () => {
  test.each(["cat .*", "grep -r x .*", "ls -R .?", "cat sub/../.*/outside"])(
    "%s finds the directory above in bash before 5.2 and in dash",
    (line) => {
      expect(judged(line)).toBe("ask")
    },
  )

  test("a pattern whose last part is not there stays as it is, and git takes it for one of its own", () => {
    const deny = ["Read(deep/er/secret)"]
    expect(judged("git grep x -- dee*/secret", { deny })).toBe("ask")
    expect(judged("git grep x -- READM*", { deny })).toBe("allow")
  })

  test("a name that is no text is not known", () => {
    const place = join(root, "bytes")
    mkdirSync(place)
    symlinkSync(join(root, "outside"), Buffer.concat([Buffer.from(`${place}/a`), Buffer.from([0xff])]))
    expect(judged("cat *", {}, place)).toBe("ask")
    expect(judged("diff -r . .", {}, place)).toBe("ask")
  })

  test("names are in the order of their bytes, whatever the language is", () => {
    const env = neededEnvironment({ LC_ALL: "de_DE.UTF-8", LC_COLLATE: "de_DE.UTF-8" })
    expect(env).toMatchObject({ LANG: "de_DE.UTF-8", LC_COLLATE: "C" })
    expect(env.LC_ALL).toBeUndefined()
  })
})

describe("PERM-9 a path that means another place for another process", () => {
  test.each(["cat /proc/self/cwd/x", "cd sub; cat /proc/self/cwd/x", "cat /dev/fd/../cwd/x"])("%s", (line) => {
    expect(judged(line)).toBe("ask")
  })

  test("to write", () => {
    expect(judged("cd .git && echo x > /proc/self/cwd/config", { mode: "accept-edits" })).toBe("ask")
  })
})

describe("PERM-9 what starts another command", () => {
  test.each(["command cd .git/hooks; echo x > pre-commit", "builtin cd .git; echo x > config"])("%s", (line) => {
    expect(judged(line, { mode: "accept-edits" })).toBe("ask")
  })

  test("command cd sub; cat x; npm test", () => {
    expect(judged("command cd sub; cat x; npm test", { allow: ["Bash(npm test:*)"] })).toBe("ask")
  })

  test.each([
    "xargs -I npm npm test",
    "xargs -i npm '{}' test",
    "xargs --replace=test npm test",
    "xargs -I t npm test",
  ])("what xargs puts in place of a word may be anything: %s", (line) => {
    expect(judged(`cat README | ${line}`, { allow: ["Bash(npm test:*)"] })).toBe("ask")
  })

  test("what xargs puts behind a command is for the rule", () => {
    for (const line of ["xargs npm test", "xargs -I % npm test %", "xargs -I '{}' npm test '{}'"])
      expect(judged(`cat README | ${line}`, { allow: ["Bash(npm test:*)"] }), line).toBe("allow")
  })

  test("a program of the project with the name of one that starts others needs a rule of its own", () => {
    const allow = ["Bash(npm test:*)"]
    expect(judged("./timeout 5 npm test", { allow })).toBe("ask")
    expect(judged("timeout 5 npm test", { allow })).toBe("allow")
    expect(judged("./timeout 5 npm test", { allow: [...allow, "Bash(./timeout:*)"] })).toBe("allow")
  })
})

/** Program names that resolve to other programs, and programs that obey files of the project. */
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { testContext } from "../../../test/tool-context.ts"
import { bashTool } from "../tools/shell/bash.ts"
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { ShellSession } from "../tools/shell/shell-session.ts"
import { trustedPath } from "../tools/shell/trusted-path.ts"
import { judge } from "./permissions.ts"

let root = ""
let project = ""
let ran = ""

beforeEach(() => {
  mkdirSync("node_modules/.cache", { recursive: true })
  root = realpathSync(mkdtempSync("node_modules/.cache/strata-hostile-programs-"))
  project = join(root, "project")
  ran = join(root, "ran")
  mkdirSync(join(project, "sub"), { recursive: true })
  mkdirSync(join(root, "home"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function file(path: string, text: string, mode = 0o644): string {
  const at = join(root, path)
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, text)
  chmodSync(at, mode)
  return at
}
const program = (path: string) => file(path, `#!/bin/sh\ntouch '${ran}'\n`, 0o755)

function judged(line: string, given: Readonly<Record<string, string>> = {}) {
  const env = { HOME: join(root, "home"), PATH: "/usr/bin:/bin", ...given }
  const command = commandFacts(line, { directory: project, env })
  const question = { kind: "execute", summary: line, subject: line, command } as const
  const policy = {
    mode: "ask",
    allow: [],
    ask: [],
    deny: [],
    project,
    protectedDirectories: [],
    home: env.HOME,
  } as const
  return judge({ tool: "Bash", isReadOnly: false, question }, policy)
}

function runs(line: string, PATH: string): boolean {
  rmSync(ran, { force: true })
  spawnSync("/bin/bash", ["-c", line], { cwd: project, env: { PATH, HOME: join(root, "home") }, timeout: 10_000 })
  return existsSync(ran)
}

describe("PERM-4 a name in PATH that leads to a file of the clone", () => {
  test.each([
    ["ls", "."],
    ["ls", ""],
    ["ls", "node_modules/.bin"],
    ["git status", "$project/node_modules/.bin"],
    ["git status", "$project/bin/../bin"],
    ["cd sub && ls", "bin"],
    ["cd sub && cat f", "."],
    ["timeout 5 ls", "$project/bin"],
    ["timeout 5 echo x", "$project/bin"],
    ["env pwd", "$project/bin"],
    ["echo x | xargs echo", "$project/bin"],
    ["find . -maxdepth 0 -exec true ';'", "$project/bin"],
    ["bash -c 'ls'", "$project/bin"],
    ["cat < /dev/null | sort", "$project/bin"],
    ["ls", "$root/linked"],
  ])("%s with %s in it", (line, entry) => {
    for (const name of ["ls", "git", "cat", "sort", "echo", "pwd", "true", "timeout"])
      for (const directory of ["", "bin", "node_modules/.bin", "sub", "sub/bin"])
        program(join("project", directory, name))
    if (line.startsWith("timeout")) rmSync(join(project, "bin", "timeout"))
    symlinkSync(join(project, "bin"), join(root, "linked"))
    const path = `${entry.replace("$project", project).replace("$root", root)}:/usr/bin:/bin`
    expect(runs(line, path)).toBe(true)
    expect(judged(line, { PATH: path }).verdict).toBe("ask")
    expect(runs(line, trustedPath(path, { project, home: root }).join(":"))).toBe(false)
  })

  test("the question names the file", () => {
    const own = program("project/node_modules/.bin/ls")
    expect(judged("ls", { PATH: `${dirname(own)}:/usr/bin` }).why).toContain(own)
    expect(judged("which ls", { PATH: `${dirname(own)}:/usr/bin` }).why).toContain(own)
    expect(judged("command -v ls", { PATH: `${dirname(own)}:/usr/bin` }).why).toContain(own)
  })

  test("a directory of the clone that has no such file changes nothing, nor has it a say over builtins", () => {
    program("project/node_modules/.bin/eslint")
    for (const name of ["echo", "test", "cd"]) program(`project/node_modules/.bin/${name}`)
    const PATH = `${join(project, "node_modules/.bin")}:/usr/bin:/bin`
    for (const line of ["ls", "cat sub/x | head -1", "echo x", "cd sub && test -f x", "/usr/bin/ls", "/bin/cat sub/x"])
      expect([line, judged(line, { PATH }).verdict]).toEqual([line, "allow"])
  })

  test("a program by its path is the known one only outside the project", () => {
    program("project/bin/ls")
    symlinkSync("/usr/bin/ls", join(project, "ls"))
    for (const line of ["./ls", "bin/ls", join(project, "ls"), "sub/../ls", "/proc/self/cwd/ls"])
      expect([line, judged(line).verdict]).toEqual([line, "ask"])
  })
})

describe("PERM-4 programs that obey files of the project", () => {
  test("a package manager, in whatever it does", () => {
    const lines = ["npm ls", "npm root", "npm prefix", "npm run", "npm -v", "npm --version", "npm config get cache"]
    const others = [
      "yarn --version",
      "pnpm -v",
      "bun --version",
      "corepack --version",
      "npx --version",
      "npm ls --depth=0",
    ]
    expect([...lines, ...others].filter((line) => judged(line).verdict === "allow")).toEqual([])
  })

  test("go, where a module may name a toolchain to be fetched", () => {
    expect(judged("go version").verdict).toBe("allow")
    file("project/go.mod", "module x\n\ngo 1.99\n\ntoolchain go1.99.9\n")
    expect(judged("go version").verdict).toBe("ask")
    expect(judged("cd sub && go version").verdict).toBe("ask")
  })

  test.each(["tools/shims", "home/.volta/bin"])("a stand-in in %s that takes the version from the project", (path) => {
    for (const name of ["node", "python3", "rg"]) program(join(path, name))
    const PATH = `${join(root, path)}:/usr/bin:/bin`
    for (const line of ["node --version", "python3 --version", "rg x"])
      expect([line, judged(line, { PATH }).verdict]).toEqual([line, "ask"])
  })

  test("a link to a manager of versions", () => {
    program("tools/mise")
    symlinkSync(join(root, "tools", "mise"), join(root, "tools", "node"))
    expect(judged("node --version", { PATH: join(root, "tools") }).verdict).toBe("ask")
  })
})

test("PERM-4 the project stays what it was when the shell moved below it", async () => {
  program("project/bin/ls")
  const context = {
    ...testContext({ at: project }),
    env: { HOME: join(root, "home"), PATH: `${join(project, "bin")}:/usr/bin` },
  }
  const bash = bashTool(new ShellSession())
  const kind = async () => (await bash.question!({ command: "ls" }, context)).kind
  expect(await kind()).toBe("execute")
  context.directory.set(join(project, "sub"))
  expect(await kind()).toBe("execute")
  rmSync(join(project, "bin", "ls"))
  expect(await kind()).toBe("read")
})

test("PERM-4 a temporary directory in PATH does not count", () => {
  const at = realpathSync(mkdtempSync(join(tmpdir(), "strata-hostile-programs-")))
  try {
    writeFileSync(join(at, "ls"), "#!/bin/sh\n", { mode: 0o755 })
    expect(judged("ls", { PATH: `${at}:/usr/bin` }).verdict).toBe("ask")
  } finally {
    rmSync(at, { recursive: true, force: true })
  }
})

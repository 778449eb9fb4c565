import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { resolveProgram, trustedPath } from "./trusted-path.ts"

const SYSTEM = realpathSync("/usr/bin")
let root = ""
let project = ""
let tools = ""

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-trusted-path-")))
  project = join(root, "repository", "packages", "project")
  tools = join(root, "tools")
  for (const directory of [project, tools, join(root, "temporary")]) mkdirSync(directory, { recursive: true })
  mkdirSync(join(root, "repository", ".git"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function program(path: string, mode = 0o755): string {
  mkdirSync(join(path, ".."), { recursive: true })
  writeFileSync(path, "#!/bin/sh\n")
  chmodSync(path, mode)
  return path
}
/** A system whose `root` is treated like `/`, although it is in a directory for temporary files. */
const place = () => ({ project, home: root, system: { root, temporary: [join(root, "temporary")] } })

test("PERM-4 only directories outside the project, that others cannot change, count in PATH", () => {
  const others = join(root, "others")
  mkdirSync(join(others, "below"), { recursive: true })
  chmodSync(others, 0o777)
  const inProject = ["node_modules/.bin", "bin"].map((name) => join(project, name))
  for (const directory of inProject) mkdirSync(directory, { recursive: true })
  mkdirSync(join(root, "repository", "bin"))
  symlinkSync(inProject[1]!, join(root, "link"))
  const path = [
    ".",
    "",
    "node_modules/.bin",
    "~/bin",
    ...inProject,
    join(root, "repository", "bin"),
    join(root, "link"),
    others,
    join(others, "below"),
    join(root, "missing"),
    join(root, "temporary"),
    `${tools}/../tools`,
    "/usr/bin",
    tools,
  ].join(":")
  expect(trustedPath(path, place())).toEqual([tools, SYSTEM])
})

test("PERM-4 what is in a directory for temporary files does not count, whoever made it", () => {
  const asked = resolveProgram(program(join(tools, "ls")), { project, path: "/usr/bin" })
  expect(asked).toMatchObject({ state: "not trusted", why: "it is in a directory for temporary files" })
  for (const directory of [tools, tmpdir(), "/tmp", "/var/tmp", "/dev/shm"])
    expect(trustedPath(`${directory}:/usr/bin`, { project })).toEqual([SYSTEM])
})

test("PERM-4 without PATH, the directories of the system count, and not the working directory", () => {
  expect(trustedPath(undefined, place())).toContain(SYSTEM)
})

test("PERM-4 where no directory counts, nothing is found, and not what is in the working directory", () => {
  program(join(project, "ls"))
  for (const path of ["", ".", project]) {
    const PATH = trustedPath(path, place()).join(":")
    expect(spawnSync("/bin/bash", ["-c", "ls"], { cwd: project, env: { PATH } }).status).toBe(127)
  }
})

test("PERM-4 a name is the known program only if its first match in PATH counts", () => {
  program(join(project, "bin", "ls"))
  const asked = (path: string, name = "ls", directory = project) =>
    resolveProgram(name, { ...place(), path, directory })
  expect(asked("/usr/bin")).toMatchObject({ state: "trusted" })
  expect(asked(`${join(project, "bin")}:/usr/bin`)).toEqual({
    state: "not trusted",
    file: join(project, "bin", "ls"),
    why: "it belongs to the project",
  })
  expect(asked(`bin:/usr/bin`)).toMatchObject({ state: "not trusted", file: join(project, "bin", "ls") })
  expect(asked(`:/usr/bin`, "ls", join(project, "bin"))).toMatchObject({ state: "not trusted" })
  expect(asked(`${join(project, "bin")}:/usr/bin`, "cat")).toMatchObject({ state: "trusted" })
  expect(asked(`/usr/bin:${join(project, "bin")}`)).toMatchObject({ state: "trusted" })
  expect(asked("/usr/bin", "no-such-program")).toEqual({ state: "missing" })
})

test("PERM-4 links are followed to the file, and a file that others can write is not trusted", () => {
  const own = program(join(project, "tool"))
  symlinkSync(own, join(tools, "linked"))
  symlinkSync(program(join(tools, "real")), join(tools, "alias"))
  program(join(tools, "open"), 0o757)
  program(join(tools, "text"), 0o644)
  const stateOf = (name: string) => resolveProgram(name, { ...place(), path: tools }).state
  expect(stateOf("linked")).toBe("not trusted")
  expect(stateOf("alias")).toBe("trusted")
  expect(stateOf("open")).toBe("not trusted")
  expect(stateOf("text")).toBe("missing")
})

test("PERM-4 a name with a slash is judged by the file it leads to", () => {
  program(join(project, "bin", "ls"))
  symlinkSync("/usr/bin", join(project, "usr"))
  const stateOf = (name: string) => resolveProgram(name, { ...place(), path: "/usr/bin", directory: project }).state
  expect(stateOf("/usr/bin/ls")).toBe("trusted")
  expect(stateOf("bin/ls")).toBe("not trusted")
  expect(stateOf("./bin/ls")).toBe("not trusted")
  expect(stateOf("usr/ls")).toBe("not trusted")
})

/**
 * Runs the tests that depend on paths with an unusual path: in a clone below the directory for temporary files, with a space and an umlaut
 * in its path. The clone has committed changes only. If run as root, the tests run a second time as an unprivileged user who owns the
 * clone.
 *
 *     npm run test:elsewhere
 */
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

/** Tests that depend on paths: trust, permissions, the sandbox and its judge, started programs, addresses of files, code blocks. */
const FILES = [
  "packages/core/src/agent/permissions",
  "packages/core/src/base/project.test.ts",
  "packages/transcripts/src/import/archive/session-archive.test.ts",
  "packages/core/src/journal/file/lock.test.ts",
  "packages/core/src/tools/files",
  "packages/core/src/agent/tools/shell/bash.test.ts",
  "packages/core/src/agent/tools/shell/guarded-run.test.ts",
  "packages/core/src/agent/tools/shell/trusted-path.test.ts",
  "packages/core/test/judge",
  "packages/cli/test/hostile-repository.test.ts",
  "packages/cli/test/project-names.test.ts",
  "packages/cli/test/trust.test.ts",
  "packages/cli/test/unwritable.test.ts",
  "packages/page/test/views.test.ts",
  "packages/plugins/test/mcp.test.ts",
  "packages/postgres/test/settings.test.ts",
  "dev/build",
  "dev/docs",
]
const NOBODY = 65_534 // user id on Debian, Fedora, Arch and Alpine

const root = resolve(import.meta.dirname, "../..")
const directory = mkdtempSync(join(tmpdir(), "strata ü "))
const clone = join(directory, "clone")
const home = join(directory, "home")

function test(user: { readonly uid?: number; readonly gid?: number } = {}): number {
  const program = join(clone, "node_modules/node/bin/node")
  const { status } = spawnSync(program, [join(clone, "node_modules/vitest/vitest.mjs"), "run", ...FILES], {
    cwd: clone,
    env: { ...process.env, HOME: home, PATH: `${join(clone, "node_modules/.bin")}:${process.env.PATH}` },
    stdio: "inherit",
    ...user,
  })
  return status ?? 1
}

function testAsNobody(): number {
  execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, directory])
  return test({ uid: NOBODY, gid: NOBODY })
}

try {
  chmodSync(directory, 0o755) // the program also runs as another user
  mkdirSync(home)
  execFileSync("git", ["clone", "--quiet", root, clone], { stdio: "inherit" })
  execFileSync("cp", ["-a", join(root, "node_modules"), clone]) // links to the packages are relative, so copies work
  const isRoot = process.getuid?.() === 0
  process.exitCode = test() || (isRoot ? testAsNobody() : 0)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

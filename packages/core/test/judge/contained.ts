/**
 * Runs the shares of a test run in isolation. A wrongly allowed command line must not affect this machine, so bubblewrap gives each share a
 * read-only system, a temporary directory that is deleted afterwards, no network but its own loopback, and its own processes.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import type { JudgeFinding, Share, Tally } from "./inside.ts"

export type Containment =
  | { readonly state: "contained" }
  /** The user declared this machine disposable. */
  | { readonly state: "uncontained" }
  | { readonly state: "none"; readonly why: string }

export interface JudgeRun {
  readonly lines: number
  readonly seed: number
  readonly shares?: number
  readonly maxFindings?: number
  /** Runs only these lines. */
  readonly only?: readonly string[]
  /** Runs every line, whatever the command analyzer decides. */
  readonly skipsJudge?: boolean
  /** Lines to skip: a pattern for `PATH=… line`. */
  readonly except?: string
  readonly containment: Containment
  readonly onFinding?: (finding: JudgeFinding) => void
}

export interface JudgeReport extends Tally {
  readonly findings: readonly JudgeFinding[]
}

const PORT = 8_765 // each share has its own loopback
/** Node and the sources, which a share needs. Mounted explicitly, because both may be below `/tmp`. */
const SHOWN = [process.execPath, resolve(import.meta.dirname, "../../../..")]
const WALLS = [
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
  ...SHOWN.flatMap((path) => ["--ro-bind", path, path]),
  ...["--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"],
  ...ownerOfAll(),
]

/**
 * Without root, the namespace shows files of other owners, such as the system's programs, as owned by `nobody`, and none would be trusted.
 * The share runs as that user, so that they are its own.
 */
function ownerOfAll(): readonly string[] {
  if (process.platform !== "linux" || process.getuid?.() === 0) return []
  const shown = (of: "uid" | "gid") => readFileSync(`/proc/sys/kernel/overflow${of}`, "utf8").trim()
  return ["--unshare-user", "--uid", shown("uid"), "--gid", shown("gid")]
}

export function findContainment({ isDisposable }: { readonly isDisposable: boolean }): Containment {
  const { status, stderr, error } = spawnSync("bwrap", [...WALLS, "true"], { encoding: "utf8" })
  if (status === 0) return { state: "contained" }
  if (isDisposable) return { state: "uncontained" }
  const why = error ? "bubblewrap (bwrap) is not installed" : `bubblewrap cannot start here: ${stderr.trim()}`
  return { state: "none", why }
}

export async function runJudge({ shares = 2, ...run }: JudgeRun): Promise<JudgeReport> {
  const reports = await Promise.all(Array.from({ length: shares }, (_, part) => runShare(run, { part, of: shares })))
  return {
    judged: reports.reduce((sum, { judged }) => sum + judged, 0),
    ran: reports.reduce((sum, { ran }) => sum + ran, 0),
    findings: reports.flatMap(({ findings }) => findings).sort((a, b) => a.number - b.number),
  }
}

async function runShare(run: Omit<JudgeRun, "shares">, { part, of }: Pick<Share, "part" | "of">): Promise<JudgeReport> {
  const { lines, seed, maxFindings = 20, only, skipsJudge = false, except, containment, onFinding } = run
  const isAlone = containment.state === "contained"
  const root = isAlone ? "/tmp/judge" : join(mkdtempSync(join(tmpdir(), "strata-judge-")), "world")
  const port = isAlone ? PORT : 0
  const share: Share = {
    root,
    port,
    seed,
    lines,
    part,
    of,
    maxFindings,
    isAlone,
    skipsJudge,
    ...(only ? { only } : {}),
    ...(except === undefined ? {} : { except }),
  }
  const command = [process.execPath, join(import.meta.dirname, "inside.ts"), JSON.stringify(share)]
  const [program, ...args] = isAlone ? ["bwrap", ...WALLS, ...command] : command
  const child = spawn(program!, args, { stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env.PATH } })
  const findings: JudgeFinding[] = []
  let tally: Tally | undefined
  for await (const text of createInterface({ input: child.stdout })) {
    const output = JSON.parse(text) as { finding?: JudgeFinding; tally?: Tally }
    if (output.finding) {
      findings.push(output.finding)
      onFinding?.(output.finding)
    }
    tally = output.tally ?? tally
  }
  if (!tally) throw new Error("A share of the run ended early. Its message is above.")
  return { ...tally, findings }
}

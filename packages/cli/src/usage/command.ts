/** `strata usage`: the cost and losses of all conversations on this machine, and a search in them. */

import { open, rename, rm, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import {
  atLeastNote,
  createOverview,
  isPictureReady,
  openUsage,
  PICTURE_PREFIX,
  reasonsForParts,
  sharePicture,
  shareText,
  type Usage,
  type UsageFilter,
  type UsageList,
  type UsageReport,
  type UsageRow,
} from "@strata/page"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { USAGE } from "../descriptions.ts"
import { pluralize } from "../display/numbers.ts"
import { progressOn } from "../display/progress.ts"
import type { Style, Terminal } from "../display/terminal.ts"
import { truncate, truncateStart, wrapText } from "../display/text.ts"
import { escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { hasBrowser } from "../open-browser.ts"
import { programCall } from "../program-call.ts"
import { reportText } from "./report-text.ts"
import { startWorker } from "./workers.ts"

// Renders search results for the terminal.

interface HitsOptions {
  readonly query: string
  readonly style: Style
  readonly width: number
}

export function hitsText({ rows, total }: UsageList, { query, style, width }: HitsOptions): readonly string[] {
  if (total === 0) return [`No conversation has the words "${escapeToLine(query)}".`]
  const rest = total - rows.length
  return [
    style.bold(
      `${pluralize(total, "conversation")} ${total === 1 ? "has" : "have"} the words "${escapeToLine(query)}"`,
    ),
    ...rows.flatMap((row) => ["", ...hitLines(row, { style, width })]),
    ...(rest > 0 ? ["", `and ${pluralize(rest, "more conversation")}`] : []),
  ]
}

function hitLines(row: UsageRow, { style, width }: Omit<HitsOptions, "query">): readonly string[] {
  const { hit, title, program, project, file, to } = row
  const day = (hit?.at ?? to)?.slice(0, 10)
  const facts = [day, program, project].filter((fact) => fact !== undefined).map(escapeToLine)
  return [
    truncate(`${facts.join("  ")}${title === undefined ? "" : `  ${escapeToLine(title)}`}`, width),
    ...(hit ? [`  ${truncate(escapeToLine(hit.snippet), width - 2)}`] : []),
    style.dim(`  ${truncateStart(escapeToLine(file), width - 2)}`),
  ]
}

// Writes the picture of a report. An earlier picture is replaced, other files are not.

/** Checks that a picture may be written to the path and returns it as an absolute path. Called before the work. */
export async function checkPicturePath(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file)
  const found = await stat(path).catch(() => undefined)
  if (found && !(await isPicture(path)))
    throw new UsageError(
      `${file} exists and is not a picture of strata usage. Nothing was written; choose another name after --picture.`,
    )
  const directory = await stat(dirname(path)).catch(() => undefined)
  if (!directory?.isDirectory())
    throw new UsageError(`The directory ${dirname(path)} does not exist. Create it, then run the command again.`)
  return path
}

async function isPicture(path: string): Promise<boolean> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PICTURE_PREFIX.length), 0, PICTURE_PREFIX.length, 0)
    return buffer.subarray(0, bytesRead).toString() === PICTURE_PREFIX
  } catch {
    return false
  }
}

/** Writes the picture and reports it on standard error. */
export async function writePicture(path: string, picture: string, terminal: Terminal): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.draft`)
  try {
    await writeFile(draft, picture, { flag: "wx" }) // protects against links in shared directories
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(
      `The picture cannot be written to ${path} (${code ?? message}). Choose another place after --picture.`,
    )
  }
  terminal.complain(`Picture: ${path}\n`)
}

const REPLAY_SECONDS = 10
const SAMPLE_SECONDS = 60 // maximum, until the sample is large enough for an estimate
const MAX_WIDTH = 110
const MAX_ROWS = 5
const PICTURE = "strata-usage.svg"

export const run: Run = async (call) => {
  const { args, cwd, env, terminal } = call
  const { values } = readArguments(USAGE, args)
  const { json, summary, search, share } = values
  const file = values.picture ?? (share ? PICTURE : undefined)
  const picture = file === undefined ? undefined : await checkPicturePath(file, cwd)
  const filter = filterFrom(values, cwd)
  const dirs = values.dir.map((dir) => resolve(cwd, dir))
  if (isForPages(call, values)) {
    const { showUsagePages } = await import("./pages.ts")
    return showUsagePages({ cwd, env, dirs, terminal, port: values.port, isQuiet: values["no-open"] })
  }
  return withUsage({ env, dirs, onlyDirs: false, terminal }, async (look) => {
    if (search !== undefined) return printHits(look, { query: search, filter, json, terminal })
    await replayFor(look, { seconds: values.replay, filter, terminal })
    const report = look.report(filter)
    const isReady = isPictureReady(report)
    if (picture !== undefined && isReady) await writePicture(picture, sharePicture(report), terminal)
    if (json) terminal.print(`${jsonForTerminal(report, 2)}\n`)
    else if (summary) printSummary(report, terminal)
    else if (share) terminal.print(`${shareText(report)}\n`)
    else await showReport(look, { report, filter, cwd, env, terminal, onlyDirs: false })
    if (picture === undefined || isReady) return 0
    terminal.complain(
      "No picture was made: what Strata would have saved is not known yet. Run the command again with --replay 600.\n",
    )
    return 1
  })
}

function printSummary(report: UsageReport, terminal: Terminal): void {
  const note = atLeastNote(reasonsForParts(report))
  const lines = [report.sentence, ...(note === undefined ? [] : [note])]
  terminal.print(`${lines.flatMap((line) => wrapText(line, width(terminal))).join("\n")}\n`)
}

/** Whether to show pages: only on a screen with a browser, and if no option requests other output. */
function isForPages({ env, terminal }: CommandCall, values: Record<string, unknown>): boolean {
  if (values["no-open"] === true || values.port !== undefined) return true
  const asksForText = ["text", "json", "summary", "share", "search", "picture", "project", "since", "replay"].some(
    (name) => values[name] !== undefined && values[name] !== false,
  )
  return !asksForText && terminal.isScreen && hasBrowser(env)
}

/** Runs the report. `strata inspect` uses it if it gets no file or a directory. */
export async function runUsage(
  { cwd, env, terminal }: Pick<CommandCall, "cwd" | "env" | "terminal">,
  { dirs, json }: { readonly dirs: readonly string[]; readonly json: boolean },
): Promise<number> {
  return withUsage({ env, dirs, onlyDirs: dirs.length > 0, terminal }, async (look) => {
    await replayFor(look, { seconds: undefined, filter: {}, terminal })
    const report = look.report()
    if (json) terminal.print(`${jsonForTerminal(report, 2)}\n`)
    else await showReport(look, { report, filter: {}, cwd, env, terminal, onlyDirs: dirs.length > 0 })
    return 0
  })
}

interface TextReportInput extends Pick<CommandCall, "cwd" | "env" | "terminal"> {
  readonly report: UsageReport
  readonly filter: UsageFilter
  readonly onlyDirs: boolean
}

/** Shows the report as tables in the terminal. */
async function showReport(
  look: Usage,
  { report, filter, cwd, env, terminal, onlyDirs }: TextReportInput,
): Promise<void> {
  const { rows } = look.list({ ...filter, sort: "cost", limit: MAX_ROWS })
  const [mostLost] = look.list({ ...filter, sort: "lost", limit: 1 }).rows
  const strata = programCall({ cwd, env })
  const overview = createOverview({ report, mostExpensive: rows[0], mostLost, strata })
  const gone = !onlyDirs && look.isFirst("claude-code-deletes") ? await look.findDeletedSessions() : undefined
  const { style } = terminal
  terminal.print(
    `${reportText({ report, overview, strata, rows, style, width: width(terminal), home: env.HOME, onlyDirs, ...(gone ? { gone } : {}) }).join("\n")}\n`,
  )
}

interface OpenUsage {
  readonly env: CommandCall["env"]
  readonly dirs: readonly string[]
  readonly onlyDirs: boolean
  readonly terminal: Terminal
}

async function withUsage(
  { env, dirs, onlyDirs, terminal }: OpenUsage,
  work: (look: Usage) => Promise<number>,
): Promise<number> {
  const look = openUsage({ env, dirs, onlyDirs, startWorker })
  const progress = progressOn(terminal)
  try {
    await look.update((at) => progress.show("Reading conversations", at))
    progress.end()
    return await work(look)
  } finally {
    progress.end()
    await look.close()
  }
}

interface TimedReplay {
  /** Default: a few seconds, or longer until the sample is large enough. */
  readonly seconds: number | undefined
  readonly filter: UsageFilter
  readonly terminal: Terminal
}

/** Replays as many conversations as the time allows. Ctrl-C ends the program; finished replays are stored. */
async function replayFor(look: Usage, { seconds, filter, terminal }: TimedReplay): Promise<void> {
  if (seconds === 0) return
  const { of, replayed } = look.savings(filter)
  if (replayed === of) return
  const progress = progressOn(terminal)
  let done = replayed
  const max = seconds ?? SAMPLE_SECONDS
  progress.show(`Computing what Strata would have saved, for at most ${max} s`, { done, of })
  const enough = new AbortController()
  const short = AbortSignal.timeout(REPLAY_SECONDS * 1_000)
  try {
    await look.replay({
      signal: AbortSignal.any([enough.signal, AbortSignal.timeout(max * 1_000)]),
      isInBackground: false,
      filter,
      onReplayed: () => {
        progress.show("Computing what Strata would have saved", { done: ++done, of })
        if (seconds === undefined && short.aborted && look.savings(filter).figure.kind !== "unknown") enough.abort()
      },
    })
  } finally {
    progress.end()
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

function filterFrom(
  { project, since }: { readonly project: string | undefined; readonly since: string | undefined },
  cwd: string,
): UsageFilter {
  if (since !== undefined && (!DAY.test(since) || Number.isNaN(Date.parse(since))))
    throw new UsageError(`--since needs a day such as 2026-01-31, but got "${since}".`)
  return {
    ...(project === undefined ? {} : { project: resolve(cwd, project) }),
    ...(since === undefined ? {} : { from: since }),
  }
}

interface SearchInput {
  readonly query: string
  readonly filter: UsageFilter
  readonly json: boolean
  readonly terminal: Terminal
}

function printHits(look: Usage, { query, filter, json, terminal }: SearchInput): number {
  const found = look.list({ ...filter, query, limit: 20 })
  if (json) terminal.print(`${jsonForTerminal(found, 2)}\n`)
  else terminal.print(`${hitsText(found, { query, style: terminal.style, width: width(terminal) }).join("\n")}\n`)
  return found.total === 0 ? 1 : 0
}

const width = ({ columns }: Terminal): number => Math.min(columns, MAX_WIDTH)

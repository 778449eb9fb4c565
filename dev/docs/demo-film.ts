/** Records a run of `strata demo` in a pseudo terminal and picks the frames that tell what happens. */
import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { truncateStart } from "../../packages/cli/src/display/text.ts"
import { EmulatedScreen } from "../../packages/cli/test/emulated-screen.ts"
import { type TerminalFrame, terminalSvg } from "./terminal-svg.ts"

const ROOT = join(import.meta.dirname, "..", "..")
const TERMINAL = join(ROOT, "packages", "cli", "test", "pseudo-terminal.py")
const SIZE = { columns: 96, rows: 30 }
const MAX_BYTES = 64 * 1024 * 1024 // of the recording; a usual one has 1.3 MB
const FRAME_END = "\u001b[?2026l" // the renderer ends each frame with it
const LONGEST_SHOWN_PATH = 40 // columns, as in the demo's introduction
const CHECKOUT = "~/strata" // shown in place of the path of this checkout

interface Moment {
  /** The moment is the first frame with this text. */
  readonly sees: RegExp
  readonly seconds: number
  /** Number of frames between the moment before and this one. */
  readonly before: number
  /** Shows only this row and those below it. */
  readonly from?: RegExp
}

const SECONDS_BETWEEN = 0.8 // for a frame between two moments
const MOMENTS: readonly Moment[] = [
  { sees: /^> /m, seconds: 4, before: 0 },
  { sees: /results? (?:was|were) cleared/, seconds: 3, before: 4 },
  { sees: /Writing the summary/, seconds: 1.5, before: 2 },
  { sees: /≡ Compacted/, seconds: 4, before: 0 },
  { sees: /The first conversation left/, seconds: 3, before: 5 },
  { sees: /recalled: ".*recalled: "/s, seconds: 3, before: 0 },
  { sees: /What to try next/, seconds: 8, before: 1, from: /^The same work/ },
]

type Rows = TerminalFrame["rows"]

/** Runs the demo and draws it. `place` is a directory for its temporary files. */
export const drawDemo = (place: string): string => drawRecording(recordDemo(place), place)

/** Draws the output of a demo whose temporary files were in `place`. */
export function drawRecording(recording: string, place: string): string {
  const frames = pickFrames(screensOf(withoutPaths(recording, place)))
  return terminalSvg({ ...SIZE, title: "npm start", frames, still: frames.length - 1 })
}

function recordDemo(place: string): string {
  const { PATH = "", npm_package_name = "" } = process.env
  const demo = [process.execPath, "packages/cli/src/main.ts", "demo"]
  const { stdout, status, error } = spawnSync("python3", [TERMINAL, `${SIZE.columns}`, `${SIZE.rows}`, ...demo], {
    ...{ cwd: ROOT, encoding: "utf8", maxBuffer: MAX_BYTES },
    env: { PATH, npm_package_name, HOME: place, TMPDIR: place, TERM: "xterm-256color", LANG: "C.UTF-8" },
  })
  if (error) throw new Error(`python3 cannot be started, but the picture of the demo needs it: ${error.message}`)
  if (status !== 0) throw new Error(`The demo failed: ${stdout.slice(-2_000)}`)
  return stdout
}

/** Paths in the scratch copy become relative, and the checkout gets a short name. A path may be cut off in an answer. */
function withoutPaths(recording: string, place: string): string {
  const files = new RegExp(`${place}/strata-demo-\\d+/[^\\s/]+/`, "g")
  const rest = new RegExp(`${tmpdir()}[^\\s()"',\u001b]*`, "g")
  return recording
    .replace(files, "")
    .replace(rest, ".")
    .replaceAll(ROOT, CHECKOUT)
    .replaceAll(truncateStart(ROOT, LONGEST_SHOWN_PATH), CHECKOUT)
}

/** The screen after each frame. */
function screensOf(recording: string): readonly Rows[] {
  const screen = new EmulatedScreen(SIZE)
  return recording.split(FRAME_END).map((output) => {
    screen.write(output.replaceAll("\r\n", "\n"))
    return screen.styledRows()
  })
}

/** The moments in the order of the run, and between them frames at equal distances. */
function pickFrames(screens: readonly Rows[]): readonly TerminalFrame[] {
  const texts = screens.map((rows) => rows.map(textOf).join("\n"))
  const found = MOMENTS.map((moment) => ({ ...moment, at: texts.findIndex((text) => moment.sees.test(text)) }))
  const missing = found.filter(({ at }) => at < 0).map(({ sees }) => sees.source)
  if (missing.length > 0) throw new Error(`The demo never showed "${missing.join('", "')}".`)
  let last = 0
  return found
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ at, before, seconds, from }) => {
      const step = (at - last) / (before + 1)
      const between = Array.from({ length: before }, (_, i) => screens[Math.round(last + step * (i + 1))]!)
      last = at
      const all = screens[at]!
      const rows = from
        ? all.slice(
            Math.max(
              0,
              all.findIndex((row) => from.test(textOf(row))),
            ),
          )
        : all
      return [...between.map((rows) => ({ rows, seconds: SECONDS_BETWEEN })), { rows, seconds }]
    })
}

const textOf = (row: Rows[number]): string => row.map(({ text }) => text).join("")

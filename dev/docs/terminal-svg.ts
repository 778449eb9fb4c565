/**
 * Draws frames of a terminal as one animated SVG. It needs no script, because pages that show pictures of others forbid them: the frames
 * are side by side on a film, and CSS moves the film behind a window. Rows that several frames share are stored once.
 */
import { widthOf } from "../../packages/cli/src/display/text.ts"
import type { StyledText } from "../../packages/cli/test/emulated-screen.ts"

export interface TerminalFrame {
  readonly rows: readonly (readonly StyledText[])[]
  /** How long the frame is shown. */
  readonly seconds: number
}

export interface TerminalFilm {
  readonly title: string
  readonly columns: number
  readonly rows: number
  readonly frames: readonly TerminalFrame[]
  /** Index of the frame for readers who want no motion. */
  readonly still: number
}

// pixels
const CELL = { width: 8, height: 17 }
const FONT_SIZE = 13.3 // makes a letter of the usual monospace fonts as wide as a cell
const BASELINE = 13
const PADDING = 16
const TITLE_HEIGHT = 36
const TEXT = "#adbac7"
const DOTS = ["#ff5f57", "#febc2e", "#28c840"]

const COLOURS: Readonly<Record<string, string>> = {
  red: "#f47067",
  green: "#57ab5a",
  yellow: "#daaa3f",
  blue: "#6cb6ff",
  magenta: "#dcbdfb",
  cyan: "#56d4dd",
  white: "#cdd9e5",
  gray: "#768390",
  greenBright: "#8ddb8c",
  blueBright: "#96d0ff",
}
const STYLES: Readonly<Record<string, string>> = { bold: "font-weight:700", dim: "fill-opacity:.65" }
const BLOCKS = " ▁▂▃▄▅▆▇█" // a block's index is its height in eighths

export function terminalSvg({ title, columns, rows, frames, still }: TerminalFilm): string {
  const inside = { width: columns * CELL.width, height: rows * CELL.height }
  const [width, height] = [inside.width + 2 * PADDING, inside.height + TITLE_HEIGHT + PADDING]
  const film = drawFilm(frames, inside.width)
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" fill="${TEXT}" xml:space="preserve">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${styleSheet({ frames, step: inside.width, still })}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#1c2128" stroke="#545d68"/>`,
    ...DOTS.map((fill, i) => `<circle cx="${22 + 20 * i}" cy="18" r="6" fill="${fill}"/>`),
    `<text class="title" x="${width / 2}" y="23" text-anchor="middle">${escapeXml(title)}</text>`,
    `<defs>${film.lines.map((line, id) => `<g id="r${id}">${line}</g>`).join("\n")}</defs>`,
    `<svg x="${PADDING}" y="${TITLE_HEIGHT}" width="${inside.width}" height="${inside.height}" aria-hidden="true"><g class="film">`,
    ...film.frames,
    "</g></svg></svg>",
  ].join("\n")}\n`
}

/** Each frame as uses of the distinct rows. */
function drawFilm(frames: readonly TerminalFrame[], step: number) {
  const ids = new Map<string, number>()
  const drawn = frames.map(({ rows }, at) => {
    const uses = rows.map((row, y) => {
      const line = drawRow(row)
      if (line === "") return ""
      if (!ids.has(line)) ids.set(line, ids.size)
      return `<use href="#r${ids.get(line)}" y="${y * CELL.height}"/>`
    })
    return `<g transform="translate(${at * step})">${uses.join("")}</g>`
  })
  return { lines: [...ids.keys()], frames: drawn }
}

/** A fixed place and width for each run keeps columns aligned in any font. */
export function drawRow(row: readonly StyledText[]): string {
  let column = 0
  let svg = ""
  for (const { text, styles } of row) {
    const look = styles.length === 0 ? "" : ` class="${styles.join(" ")}"`
    for (const part of text.match(/ {2,}|([▁-█])\1*|(?:(?! {2}|[▁-█]).)+/gu) ?? []) {
      const columns = widthOf(part)
      const [x, width] = [column * CELL.width, columns * CELL.width]
      column += columns
      if (part.trim() === "") continue
      const eighths = BLOCKS.indexOf(part[0]!)
      svg += eighths > 0 ? drawBlocks({ x, width, eighths, look }) : drawText({ x, width, part, look })
    }
  }
  return svg
}

const drawText = ({ x, width, part, look }: { x: number; width: number; part: string; look: string }) =>
  `<text x="${x}" y="${BASELINE}" textLength="${width}"${look}>${escapeXml(part)}</text>`

/** Blocks are drawn as rectangles, because in many fonts they leave gaps. */
function drawBlocks({ x, width, eighths, look }: { x: number; width: number; eighths: number; look: string }): string {
  const height = Math.round(((CELL.height - 2) * eighths) / 8)
  return `<rect x="${x}" y="${CELL.height - 1 - height}" width="${width}" height="${height}"${look}/>`
}

function styleSheet({ frames, step, still }: Pick<TerminalFilm, "frames" | "still"> & { step: number }): string {
  const seconds = frames.reduce((sum, frame) => sum + frame.seconds, 0)
  let start = 0
  const keyframes = frames.map((frame, at) => {
    const percent = Number(((100 * start) / seconds).toFixed(2))
    start += frame.seconds
    return `${percent}%{transform:translateX(${-at * step}px)}`
  })
  return [
    `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre}`,
    ".title{fill:#909dab}",
    ...Object.entries(COLOURS).map(([name, colour]) => `.${name}{fill:${colour}}`),
    ...Object.entries(STYLES).map(([name, style]) => `.${name}{${style}}`),
    `.film{transform:translateX(${-still * step}px)}`,
    `@media (prefers-reduced-motion:no-preference){.film{animation:film ${Number(seconds.toFixed(2))}s step-end infinite}}`,
    `@keyframes film{${keyframes.join("")}}`,
  ].join("")
}

const escapeXml = (text: string) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)

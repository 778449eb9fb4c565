/**
 * The terminal for commands: output, size, colours, and whether it can redraw in place. Output passes through `output.ts`: external text
 * cannot control the terminal, only the style functions here can.
 */
import { inspect } from "node:util"
import { guardOutput, terminalSequence } from "./output.ts"

const STYLES = [
  ...(["bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "gray"] as const),
  ...(["greenBright", "blueBright"] as const),
]

export type Style = Readonly<Record<(typeof STYLES)[number], (text: string) => string>> & {
  readonly isColorSupported: boolean
}

export interface Terminal {
  /** Writes to standard output. */
  print(text: string): void
  /** Writes problems and remarks to standard error. */
  complain(text: string): void
  readonly columns: number
  readonly rows: number
  /** Whether standard output is a screen that can redraw in place. */
  readonly isScreen: boolean
  /** Whether standard error is a screen that can rewrite a line. Default: false. */
  readonly canRewrite?: boolean
  readonly style: Style
}

const DEFAULT_SIZE = { columns: 80, rows: 24 } // for output to a file or a pipe
const MIN_COLUMNS = 40 // below this, lines wrap

export const plainStyle: Style = styleOf(false)
export const colourStyle: Style = styleOf(true)

function styleOf(isColorSupported: boolean): Style {
  const functions = STYLES.map((look) => [look, isColorSupported ? painter(look) : (text: string) => text] as const)
  return { ...(Object.fromEntries(functions) as Omit<Style, "isColorSupported">), isColorSupported }
}

/** Creates a style function. If styles are nested, the outer one continues after the inner one ends. */
function painter(look: (typeof STYLES)[number]): (text: string) => string {
  const [start, end] = inspect.colors[look]!.map((code) => terminalSequence(`${code}m`)) as [string, string]
  return (text) => `${start}${text.replaceAll(end, end + start)}${end}`
}

export interface TerminalOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether `--no-color` was given. */
  readonly noColour: boolean
}

export function processTerminal({ env, noColour }: TerminalOptions): Terminal {
  guardOutput()
  const { stdout, stderr } = process
  return {
    print: (text) => stdout.write(text),
    complain: (text) => stderr.write(text),
    // read each time, because the window may be resized
    get columns() {
      return Math.max(MIN_COLUMNS, stdout.columns ?? DEFAULT_SIZE.columns)
    },
    get rows() {
      return stdout.rows ?? DEFAULT_SIZE.rows
    },
    canRewrite: stderr.isTTY === true && env.TERM !== "dumb",
    ...detectCapabilities({ env, noColour, isTTY: stdout.isTTY === true }),
  }
}

/** Detects whether output can be redrawn in place and coloured. A dumb terminal supports neither. */
export function detectCapabilities({
  isTTY,
  ...options
}: TerminalOptions & { readonly isTTY: boolean }): Pick<Terminal, "isScreen" | "style"> {
  const isScreen = isTTY && options.env.TERM !== "dumb"
  return { isScreen, style: wantsColour({ ...options, isScreen }) ? colourStyle : plainStyle }
}

/** `--no-color` and `NO_COLOR` turn colours off; `FORCE_COLOR` turns them on in pipes too. */
function wantsColour({ env, noColour, isScreen }: TerminalOptions & { readonly isScreen: boolean }): boolean {
  if (noColour || (env.NO_COLOR !== undefined && env.NO_COLOR !== "")) return false
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0"
  return isScreen
}

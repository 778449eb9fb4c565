/** Puts a text on the person's clipboard: through the terminal (OSC 52), and with a program of the system where there is one. */
import { spawn } from "node:child_process"
import type { Environment } from "../session-options.ts"

const MOST_BYTES = 74_994 // what xterm takes in one sequence; many terminals drop a longer one
const PATIENCE_MS = 3_000 // for a program that waits for a display

export interface Clipboard {
  readonly env: Environment
  readonly platform: NodeJS.Platform
  /** Sends a sequence to the terminal as it is. */
  readonly write: (sequence: string) => void
}

export interface Copied {
  /** The terminal was asked to take it. Whether it did, it does not say. */
  readonly byTerminal: boolean
  /** The program that took it. */
  readonly program?: string
}

export async function copyText(text: string, { env, platform, write }: Clipboard): Promise<Copied> {
  const encoded = Buffer.from(text).toString("base64")
  const byTerminal = encoded.length <= MOST_BYTES
  if (byTerminal) write(`\u001b]52;c;${encoded}\u0007`)
  for (const command of programsFor(env, platform))
    if (await isTakenBy(command, text, env)) return { byTerminal, program: command[0] }
  return { byTerminal }
}

type Program = readonly [name: string, ...args: readonly string[]]

function programsFor(env: Environment, platform: NodeJS.Platform): readonly Program[] {
  if (platform === "darwin") return [["pbcopy"]]
  if (platform === "win32") return [["clip.exe"]]
  return [
    ...(env.WAYLAND_DISPLAY ? ([["wl-copy"]] as const) : []),
    ...(env.DISPLAY ? ([["xclip", "-selection", "clipboard"]] as const) : []),
  ]
}

/** What finds the program and the display. It gets nothing else, so no key either. */
const NEEDED = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "DISPLAY",
  "XAUTHORITY",
  "WAYLAND_DISPLAY",
  "XDG_RUNTIME_DIR",
  "SystemRoot",
]
const neededBy = (env: Environment) =>
  Object.fromEntries(NEEDED.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))

/** The text goes through its input, never through its arguments. */
function isTakenBy([name, ...args]: Program, text: string, env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const child = spawn(name, args, { stdio: ["pipe", "ignore", "ignore"], env: neededBy(env), signal })
    child.once("error", () => resolve(false))
    child.once("exit", (code) => resolve(code === 0))
    child.stdin.on("error", () => undefined) // it ended without reading
    child.stdin.end(text)
  })
}

/** Real terminals for driving programs: tmux if it is installed, else a pseudo terminal through python3. */
import { execFile, execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify, stripVTControlCharacters } from "node:util"
import { test } from "vitest"
import { has, needs, type TestRequirement } from "../../core/test/needs.ts"
import { everyNth, isWhole } from "../../core/test/size.ts"

const USUAL_COLUMNS = 80
const ROWS = 30
const DEADLINE_MS = 120_000 // long, because a busy machine is slow
const FIRST_POLL_MS = 25
const LAST_POLL_MS = 200 // each query of tmux starts a process

export interface TerminalProgram {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Default: 80. */
  readonly columns?: number
}

/** A terminal with access to each byte that the program sends. */
export interface BareTerminal extends TestTerminal {
  /** All bytes since the start. */
  bytes(): string
}

export interface TestTerminal extends AsyncDisposable {
  /** The visible screen. Without tmux, all output since the last key. */
  screen(): string
  /** Waits until the screen shows the text. */
  sees(text: string | RegExp): Promise<void>
  type(text: string): void
  press(key: keyof typeof KEYS): void
  paste(text: string): void
  /** Whether the program has ended and all its output has arrived. */
  hasEnded(): boolean
}

const KEYS = {
  enter: { tmux: "Enter", bytes: "\r" },
  escape: { tmux: "Escape", bytes: "\u001b" },
  "ctrl-c": { tmux: "C-c", bytes: "\u0003" },
  "ctrl-d": { tmux: "C-d", bytes: "\u0004" },
  "ctrl-o": { tmux: "C-o", bytes: "\u000f" },
  "shift-tab": { tmux: "BTab", bytes: "\u001b[Z" },
  "alt-enter": { tmux: "M-Enter", bytes: "\u001b\r" },
  backspace: { tmux: "BSpace", bytes: "\u007f" },
  up: { tmux: "Up", bytes: "\u001b[A" },
  "page-down": { tmux: "PageDown", bytes: "\u001b[6~" },
} as const

interface Terminal {
  readonly name: string
  readonly open: (program: TerminalProgram) => TestTerminal
  readonly need: TestRequirement
}

const ALL: readonly Terminal[] = [
  { name: "a pseudo terminal", open: openPty, need: "python3" },
  { name: "tmux", open: openTmux, need: "tmux" },
]
const FOUND = ALL.filter(({ need }) => has(need))

/** The terminals to test. At the small test size, only one of them. */
export const TERMINALS: readonly Terminal[] = everyNth(FOUND, 2)

/** Called by each file that iterates over `TERMINALS`: terminals that are not tested appear as skipped tests. */
export function sayMissingTerminals(): void {
  const isOneEnough = !process.env.CI && !isWhole && FOUND.length > 0
  const missing = isOneEnough ? [] : ALL.filter((one) => !FOUND.includes(one))
  for (const { name, need } of missing) test(`in ${name}`, needs(need), () => {})
}

/** Command that sets only the given variables, so that the machine's environment does not affect the output. */
function inEnvironment(env: TerminalProgram["env"], term: string): readonly string[] {
  return ["env", "-i", `TERM=${term}`, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
}

let opened = 0

function openTmux({ command, cwd, env, columns = USUAL_COLUMNS }: TerminalProgram): TestTerminal {
  const socket = `strata-test-${process.pid}-${++opened}` // a separate server, so that no other session is affected
  const own = ["-L", socket, "-f", "/dev/null"]
  const tmux = (...args: readonly string[]) => execFileSync("tmux", [...own, ...args], { encoding: "utf8" })
  tmux(
    "new-session",
    "-d",
    "-x",
    `${columns}`,
    "-y",
    `${ROWS}`,
    "-c",
    cwd,
    ...inEnvironment(env, "screen-256color"),
    ...command,
  )
  tmux("set-option", "remain-on-exit", "on")
  return withWaiting({
    screen: () => tmux("capture-pane", "-p", "-J"),
    type: (text) => void tmux("send-keys", "-l", text),
    press: (key) => void tmux("send-keys", KEYS[key].tmux),
    paste: (text) => {
      execFileSync("tmux", [...own, "load-buffer", "-"], { input: text }) // the text may be too long for an argument
      tmux("paste-buffer", "-p")
    },
    hasEnded: () => tmux("list-panes", "-F", "#{pane_dead}").trim() === "1",
    async look() {
      // the flag is read first, so that the screen of an ended program is complete
      const both = ["list-panes", "-F", "#{pane_dead}", ";", "capture-pane", "-p", "-J"]
      const { stdout } = await promisify(execFile)("tmux", [...own, ...both])
      const end = stdout.indexOf("\n")
      return { screen: stdout.slice(end + 1), hasEnded: stdout.slice(0, end) === "1" }
    },
    async [Symbol.asyncDispose]() {
      tmux("kill-server")
    },
  })
}

export function openPty({ command, cwd, env, columns = USUAL_COLUMNS }: TerminalProgram): BareTerminal {
  const driver = fileURLToPath(new URL("pseudo-terminal.py", import.meta.url))
  const program = [...inEnvironment(env, "xterm-256color"), ...command]
  const child = spawn("python3", [driver, `${columns}`, `${ROWS}`, ...program], { cwd })
  let printed = ""
  let everything = ""
  const send = (text: string) => {
    printed = ""
    child.stdin.write(text)
  }
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => {
      printed += text
      everything += text
    })
  }
  let isOver = false
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      isOver = true
      resolve()
    })
  })
  const terminal = withWaiting({
    screen: () => stripVTControlCharacters(printed),
    type: send,
    press: (key) => send(KEYS[key].bytes),
    paste: (text) => send(`\u001b[200~${text}\u001b[201~`),
    hasEnded: () => isOver,
    look: async () => ({ screen: stripVTControlCharacters(printed), hasEnded: isOver }),
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
    },
  })
  return { ...terminal, bytes: () => everything }
}

interface Watched extends Omit<TestTerminal, "sees"> {
  /** Asynchronous, so that it does not block the simulator in this process. */
  look(): Promise<{ readonly screen: string; readonly hasEnded: boolean }>
}

function withWaiting({ look, ...terminal }: Watched): TestTerminal {
  return {
    ...terminal,
    async sees(text) {
      const deadline = Date.now() + DEADLINE_MS
      for (let pause = FIRST_POLL_MS; ; pause = Math.min(LAST_POLL_MS, pause * 1.5)) {
        const { screen, hasEnded } = await look()
        if (typeof text === "string" ? screen.includes(text) : text.test(screen)) return
        if (hasEnded || Date.now() > deadline) throw new Error(`It never showed ${text}. The screen:\n${screen}`)
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    },
  }
}

/**
 * All output to the terminal passes through this module. Everything that this process writes to standard output and standard error is
 * escaped, including output of dependencies and Node. Only two things pass unchanged: sequences made by `terminalSequence`, and the frames
 * of the chat's renderer, which gets its text through `view/text.ts`.
 */
import { randomInt } from "node:crypto"
import { terminalEscaper } from "./visible.ts"

/**
 * The sequences that this program uses: colours, cursor home, start of the line, clear to the end of line or screen, cursor on and off,
 * second screen, frames.
 */
export type TerminalSequence = `${number}m` | "H" | "1G" | "K" | "J" | `?${25 | 1049 | 2026}${"h" | "l"}`

/** Random for each process and never printed, so no content can contain it. Its form is one that width functions skip. */
const KEY = Array.from({ length: 3 }, () => randomInt(1_000, 10_000)).join(";")
const START = "\u001b["
const OWN = new RegExp(`\\u001b\\[${KEY};([0-9;?]*[A-Za-z])`)

/** A sequence for the terminal, tagged with the key of this process. */
export const terminalSequence = (sequence: TerminalSequence): string => `${START}${KEY};${sequence}`

/** A filter for one output. It escapes text and removes the tag of Strata's own sequences. */
export function outputFilter(): (text: string) => string {
  const shown = terminalEscaper()
  return (text) =>
    text
      .split(OWN)
      .map((part, i) => (i % 2 === 0 ? shown(part) : `${START}${part}`))
      .join("")
}

type Write = NodeJS.WriteStream["write"]

const rawWrites = new WeakMap<NodeJS.WriteStream, Write>()
let screen: ScreenOwner | undefined

/** Filters both outputs of the process. Further calls have no effect. */
export function guardOutput(): void {
  for (const stream of [process.stdout, process.stderr]) guard(stream)
  if (process.listenerCount("warning") === 0) return // warnings are off
  process.removeAllListeners("warning").on("warning", ({ name, message }) => {
    process.stderr.write(`${name}: ${message}\n`)
  })
}

/** The renderer writes this to standard error when the process ends. Alone it is harmless. */
const SHOW_CURSOR = "\u001b[?25h"

function guard(stream: NodeJS.WriteStream): void {
  if (rawWrites.has(stream)) return
  const raw = stream.write.bind(stream) as Write
  rawWrites.set(stream, raw)
  const filter = outputFilter()
  const write = (chunk: Uint8Array | string, ...rest: readonly unknown[]): boolean => {
    const encoding = rest.find((value) => typeof value === "string") as BufferEncoding | undefined
    const done = rest.find((value) => typeof value === "function") as (() => void) | undefined
    if (chunk === SHOW_CURSOR) return raw(chunk, done)
    const text = filter(textOf(chunk, encoding))
    if (screen === undefined) return raw(text, done)
    screen.stray(text)
    done?.()
    return true
  }
  stream.write = write as Write
}

function textOf(chunk: Uint8Array | string, encoding: BufferEncoding = "utf8"): string {
  if (typeof chunk !== "string") return Buffer.from(chunk).toString()
  return encoding === "utf8" || encoding === "utf-8" ? chunk : Buffer.from(chunk, encoding).toString()
}

/** A renderer that draws the whole screen. */
export interface ScreenOwner {
  /** Receives the output of other code. */
  stray(text: string): void
  /** Restores the terminal at once, because the process is about to end. */
  leave(): void
}

/** Unfiltered standard output for a renderer that escapes its text itself. It owns the screen until `leaveScreen`. */
export function takeScreen(owner: ScreenOwner): NodeJS.WriteStream {
  guardOutput()
  screen = owner
  const write = rawWrites.get(process.stdout)!
  return new Proxy(process.stdout, {
    get(target, name) {
      if (name === "write") return write
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

/** Restores the terminal. Has no effect without an owner. */
export function leaveScreen(): void {
  screen?.leave()
  screen = undefined
}

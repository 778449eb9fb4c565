/**
 * Handles: the short addresses that the model sees where a block was. A handle names a message by ten hex digits, and may add the number of
 * a block in it, and of a block inside a tool result: `3f09c1a2b4`, `3f09c1a2b4.0`, `3f09c1a2b4.0.2`. Everything that takes a handle also
 * takes the whole uuid in place of the digits.
 */
import { keyOf } from "../base/line-key.ts"
import type { Uuid } from "./messages.ts"

// Of the end of the key: the beginning of some uuids is the time, and messages of one moment would share it.
// Among 100,000 messages a handle names two of them once in ten million times.
const DIGITS = 10
const SHORT = new RegExp(`^[0-9a-f]{${DIGITS}}$`)

/** The handle of a message, or of one of its blocks. */
export const handleOf = (uuid: Uuid, ...blocks: readonly number[]): string =>
  [keyOf(uuid).toString("hex").slice(-DIGITS), ...blocks].join(".")

/** The handle for the address of a block: `<uuid>.<block>`. */
export function handleFor(address: string): string {
  const [uuid, ...blocks] = address.split(".")
  return handleOf(uuid!, ...blocks.map(Number))
}

export interface Handle {
  /** The sub-agent whose conversation it is in. Absent: this one. */
  readonly agent?: string
  /** The digits, or the whole uuid. */
  readonly message: string
  /** The place of a block, and of a block in it. Empty: the whole message. */
  readonly blocks: readonly number[]
}

/** Reads `<message>`, `<message>.<block>` and `<message>.<block>.<inner block>`, also after `<agent>/`. */
export function parseHandle(text: string): Handle | undefined {
  const [, agent, message, blocks = ""] = /^(?:([^./\s][^/\s]*)\/)?([^./\s]+)((?:\.\d+){0,2})$/.exec(text) ?? []
  if (message === undefined) return undefined
  return { ...(agent === undefined ? {} : { agent }), message, blocks: blocks.split(".").slice(1).map(Number) }
}

/** Whether these are the digits of a handle, and not a whole uuid. */
export const isShort = (message: string): boolean => SHORT.test(message)

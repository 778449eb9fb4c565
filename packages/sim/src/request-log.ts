/** The request log: one entry per request, and a readable line for it. It contains no keys and no prompts. */

import { formatNumber } from "@strata/core/base"

const MAX_ENTRIES = 1000 // entries

export interface LogEntry {
  readonly at: number
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly model?: string
  /** The id of the response message. */
  readonly messageId?: string
  readonly stream?: boolean
  readonly input?: { readonly uncached: number; readonly read: number; readonly written: number }
  readonly output?: number
  readonly stopReason?: string
  readonly dollars?: number
  /** The fault that hit this request. */
  readonly fault?: string
  readonly error?: string
}

export class RequestLog {
  private kept: LogEntry[] = []
  private readonly onLine: ((line: string) => void) | undefined

  constructor(onLine: ((line: string) => void) | undefined) {
    this.onLine = onLine
  }

  add(entry: LogEntry): void {
    this.kept.push(entry)
    // trimmed only now and then, because trimming copies a thousand entries
    if (this.kept.length > 2 * MAX_ENTRIES) this.kept = this.kept.slice(-MAX_ENTRIES)
    this.onLine?.(toLine(entry))
  }

  entries(): readonly LogEntry[] {
    return this.kept.slice(-MAX_ENTRIES)
  }
}

/** `12:00:00  200  claude-opus-5-5  stream  in 1,204 (1,000 read, 200 written)  out 57  tool_use  $0.0021` */
function toLine(entry: LogEntry): string {
  const { at, status, method, path, model, stream, input, output, stopReason, dollars, fault, error } = entry
  const columns = [
    new Date(at).toISOString().slice(11, 19),
    `${status}`,
    path === "/v1/messages" ? undefined : `${method} ${path}`,
    model,
    stream ? "stream" : undefined,
    input && describeInput(input),
    output === undefined ? undefined : `out ${formatNumber(output)}`,
    stopReason,
    dollars === undefined ? undefined : `$${dollars.toFixed(4)}`,
    fault && `[${fault}]`,
    error,
  ]
  return columns.filter((column) => column !== undefined).join("  ")
}

function describeInput({ uncached, read, written }: NonNullable<LogEntry["input"]>): string {
  const cached = [read > 0 && `${formatNumber(read)} read`, written > 0 && `${formatNumber(written)} written`].filter(
    Boolean,
  )
  return `in ${formatNumber(uncached + read + written)}${cached.length > 0 ? ` (${cached.join(", ")})` : ""}`
}

/**
 * Communicates with an MCP server over pipes. The server is a guarded process: it ends with all processes it started when the connection
 * closes, and when this process exits. Lines that are not JSON are skipped. A response that is too long becomes an error; an endless line
 * closes the connection.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { GuardedProcess, type Program } from "../processes/guarded-process.ts"
import type { McpLibrary } from "./client-library.ts"

const MAX_LINE_BYTES = 32 * 1024 * 1024 // a result with several images
const MAX_SKIPPED_BYTES = 4 * MAX_LINE_BYTES // per line
const EDGE_BYTES = 200 // at both ends of a line, where the id of a response is
const TOO_LONG = `its answer has more than ${MAX_LINE_BYTES / 1024 / 1024} MB, which is Strata's limit. Ask it for less at once`

const NEWLINE = 0x0a

const TOO_LONG_CODE = -32_000
/** Position of the id in a response: at the beginning or at the end. Elsewhere it may be part of the content. */
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/
const ID_LAST = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

export interface StdioOptions {
  readonly library: McpLibrary
  /** Time that the server may take to exit, first by itself, then after SIGTERM. */
  readonly graceMs: number
  readonly onStderr: (text: string) => void
}

export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport["onmessage"]
  /** Set if the connection was closed because of a line that was too long. */
  tooLong: string | undefined
  readonly #program: Program
  readonly #options: StdioOptions
  /** Chunks of an incomplete line. */
  #chunks: Buffer[] = []
  #bytes = 0
  /** The beginning and end of a line that is too long. The rest is discarded. */
  #skipped: { readonly head: string; tail: string } | undefined
  #process: GuardedProcess | undefined
  #closing: Promise<void> | undefined
  #hasEnded = false

  constructor(program: Program, options: StdioOptions) {
    this.#program = program
    this.#options = options
  }

  async start(): Promise<void> {
    const process = new GuardedProcess(this.#program)
    this.#process = process
    process.stdout.on("data", (chunk: Buffer) => this.#receive(chunk))
    process.stderr.setEncoding("utf8").on("data", this.#options.onStderr)
    void process.ended.then((end) => {
      this.#hasEnded = true
      if (end.state === "not started") this.#options.onStderr(end.why)
      this.onclose?.()
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { SdkError, SdkErrorCode, serializeMessage } = this.#options.library
    if (!this.#process || this.#hasEnded) throw new SdkError(SdkErrorCode.NotConnected, "the server is not running")
    this.#process.stdin.write(serializeMessage(message))
  }

  /** Resolves when the server and all processes it started have ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { graceMs } = this.#options
    this.#process?.stdin.end()
    const hasEnded = await Promise.race([this.#process?.ended.then(() => true) ?? true, pause(graceMs)])
    await this.#process?.stop(hasEnded ? 0 : graceMs)
  }

  #receive(chunk: Buffer): void {
    if (this.#closing) return
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end))
      from = end + 1
      const skipped = this.#skipped
      const line = skipped ? "" : Buffer.concat(this.#chunks).toString("utf8")
      this.#chunks = []
      this.#bytes = 0
      this.#skipped = undefined
      if (skipped) this.#refuse(skipped)
      else this.#read(line)
    }
    this.#add(chunk.subarray(from))
  }

  #add(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes <= MAX_LINE_BYTES) {
      this.#chunks.push(piece)
      return
    }
    if (this.#bytes > MAX_SKIPPED_BYTES) {
      this.#giveUp()
      return
    }
    this.#skipped ??= { head: Buffer.concat([...this.#chunks, piece]).toString("latin1", 0, EDGE_BYTES), tail: "" }
    this.#chunks = []
    this.#skipped.tail = (this.#skipped.tail + piece.toString("latin1", Math.max(0, piece.length - EDGE_BYTES))).slice(
      -EDGE_BYTES,
    )
  }

  /** Fails the call to which the line responds. The connection remains open. */
  #refuse({ head, tail }: { readonly head: string; readonly tail: string }): void {
    const id = ID_FIRST.exec(head)?.[1] ?? ID_LAST.exec(tail)?.[1]
    if (id === undefined) this.#giveUp()
    else this.onmessage?.({ jsonrpc: "2.0", id: Number(id), error: { code: TOO_LONG_CODE, message: TOO_LONG } })
  }

  #giveUp(): void {
    this.#options.onStderr(`it printed a line of more than ${MAX_LINE_BYTES} bytes`)
    this.tooLong = TOO_LONG
    this.#chunks = []
    void this.close()
  }

  #read(line: string): void {
    try {
      this.onmessage?.(this.#options.library.deserializeMessage(line))
    } catch (error) {
      if (!(error instanceof SyntaxError)) this.onerror?.(error as Error) // JSON, but not a message of the protocol
    }
  }
}

const pause = (ms: number): Promise<false> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref()
  })

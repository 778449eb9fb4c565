/**
 * Speaks with an MCP server over pipes. The server is a guarded process: it ends with everything it started when the connection closes, and
 * when this process ends. Lines that are no JSON are skipped. A line that never ends closes the connection.
 */
import {
  deserializeMessage,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client"
import { GuardedProcess, type Program } from "../processes/guarded-process.ts"

const LONGEST_LINE_BYTES = 32 * 1024 * 1024 // a result with several images

const NEWLINE = 0x0a

export interface StdioOptions {
  /** How long the server may take to end, first by itself, then after SIGTERM. */
  readonly graceMs: number
  readonly onStderr: (text: string) => void
}

export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport["onmessage"]
  readonly #program: Program
  readonly #options: StdioOptions
  /** The pieces of a line whose end has not come yet. */
  #pieces: Buffer[] = []
  #bytes = 0
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
    if (!this.#process || this.#hasEnded) throw new SdkError(SdkErrorCode.NotConnected, "the server is not running")
    this.#process.stdin.write(serializeMessage(message))
  }

  /** Resolves when the server and everything it started are gone. */
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
      this.#pieces.push(chunk.subarray(from, end))
      const line = Buffer.concat(this.#pieces).toString("utf8")
      this.#pieces = []
      this.#bytes = 0
      from = end + 1
      this.#read(line)
    }
    this.#pieces.push(chunk.subarray(from))
    this.#bytes += chunk.length - from
    if (this.#bytes <= LONGEST_LINE_BYTES) return
    this.#options.onStderr(`it printed a line of more than ${LONGEST_LINE_BYTES} bytes`)
    this.#pieces = []
    void this.close()
  }

  #read(line: string): void {
    try {
      this.onmessage?.(deserializeMessage(line))
    } catch (error) {
      if (!(error instanceof SyntaxError)) this.onerror?.(error as Error) // JSON, but no message of the protocol
    }
  }
}

const pause = (ms: number): Promise<false> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref()
  })

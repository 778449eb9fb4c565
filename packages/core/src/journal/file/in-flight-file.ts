/**
 * The log of requests in flight, as a file beside the journal. A line is one small write, which a kill of the process cannot tear and which
 * waits for no disk. While nothing is in flight the file is empty.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { type InFlightLog, type KeptRequests, lineOf, type SentRequest, unsettledIn } from "../in-flight.ts"
import { FILE_MODE } from "./layout.ts"

export class InFlightFile implements InFlightLog, KeptRequests {
  readonly #path: string
  readonly #open = new Set<string>()
  #file: number | undefined
  #isUsed = false

  constructor(path: string) {
    this.#path = path
  }

  /** What an earlier process left. */
  unsettled(): readonly SentRequest[] {
    try {
      return unsettledIn(readFileSync(this.#path, "utf8"))
    } catch {
      return [] // it does not exist
    }
  }

  sent(request: SentRequest): void {
    this.#open.add(request.id)
    this.#write((file) => writeSync(file, lineOf({ sent: request })))
  }

  over(id: string): void {
    if (!this.#open.delete(id)) return
    this.#write((file) => (this.#open.size === 0 ? ftruncateSync(file) : writeSync(file, lineOf({ over: id }))))
    if (this.#open.size === 0) this.#giveBack()
  }

  /** What was left is in the journal. */
  clear(): void {
    rmSync(this.#path, { force: true })
  }

  close(): void {
    this.#giveBack()
    if (this.#isUsed && this.#open.size === 0) this.clear()
  }

  /** Its descriptor: a server has thousands of conversations without a request. */
  #giveBack(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** A full disk costs only the estimate after a kill. The journal's own next line reports it. */
  #write(write: (file: number) => unknown): void {
    try {
      this.#file ??= openSync(this.#path, "a", FILE_MODE)
      this.#isUsed = true
      write(this.#file)
    } catch {}
  }
}

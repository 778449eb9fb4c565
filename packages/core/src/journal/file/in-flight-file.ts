/**
 * The log of requests in flight, as a file beside the journal. A line is one small write, which a kill of the process cannot tear and which
 * waits for no disk. While nothing is in flight the file is empty.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { type InFlightLog, type KeptRequests, lineOf, type SentRequest, unsettledIn } from "../in-flight.ts"
import type { Held } from "./fence.ts"
import { FILE_MODE } from "./layout.ts"
import { removeNamed } from "./write-whole.ts"

export class InFlightFile implements InFlightLog, KeptRequests {
  readonly #path: string
  readonly #held: Held | undefined
  readonly #open = new Set<string>()
  #file: number | undefined
  #isUsed = false

  /** `held`: absent for who only reads. */
  constructor(path: string, held?: Held) {
    this.#path = path
    this.#held = held
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
    if (!this.#held) return
    const { lock, fence } = this.#held
    removeNamed({ path: this.#path, number: lock.fence, check: () => fence.check("in-flight") })
  }

  close(): void {
    this.#giveBack()
    if (this.#isUsed && this.#open.size === 0 && this.#held?.lock.isHeld()) this.clear()
  }

  /** Its descriptor: a server has thousands of conversations without a request. */
  #giveBack(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /**
   * A full disk costs only the estimate after a kill. The journal's own next line reports it, and a lost lock too. The lock is checked after
   * the opening: from then on the descriptor is of this owner's file.
   */
  #write(write: (file: number) => unknown): void {
    const fence = this.#held?.fence
    if (!fence) return
    try {
      if (this.#file === undefined) fence.check("open")
      this.#file ??= openSync(this.#path, "a", FILE_MODE)
      this.#isUsed = true
      fence.check("in-flight")
      write(this.#file)
    } catch {}
  }
}

/** Assertions for claims about a store. */
import assert from "node:assert/strict"
import { setImmediate, setTimeout as wait } from "node:timers/promises"

type Kind = abstract new (...given: never[]) => Error

/** Asserts that the work fails with one of these codes, whether it throws or rejects. */
export async function assertRefused(work: () => unknown, kind: Kind | readonly Kind[], what: string): Promise<void> {
  const kinds = Array.isArray(kind) ? (kind as readonly Kind[]) : [kind as Kind]
  const error = await failureOf(work)
  assert.ok(error !== undefined, `${what}: it must be refused with ${namesOf(kinds)}, and was not`)
  const isExpected = kinds.some((one) => error instanceof one)
  assert.ok(isExpected, `${what}: it must be refused with ${namesOf(kinds)}, not with ${String(error)}`)
}

const namesOf = (kinds: readonly Kind[]) => kinds.map(({ name }) => name).join(" or ")

/** Returns the error that the work throws or rejects with. */
export async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error ?? new Error("nothing was thrown")
  }
}

/** Lets pending work of other writers proceed for a while. */
export async function letOthersRun(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await setImmediate()
}

const PATIENCE_TRIES = 400
const PAUSE_MS = 5

/** Retries until the condition holds. For results that depend on a clock or arrive later. */
export async function eventually(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < PATIENCE_TRIES; tries++) {
    if (await isSo()) return
    await wait(PAUSE_MS)
  }
  assert.fail(`${what}: it did not happen within ${(PATIENCE_TRIES * PAUSE_MS) / 1_000} seconds`)
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

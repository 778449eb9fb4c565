import { describe, expect, test } from "vitest"
import { Events } from "./work.ts"

interface TestEvents {
  counted: { readonly number: number }
  ended: { readonly why: string }
}

describe("LOOP-1 events", () => {
  test("every listener of a name gets its events, in the order they subscribed, with the same object", () => {
    const events = new Events<TestEvents>()
    const heard: unknown[] = []
    events.on("counted", (event) => heard.push(["first", event]))
    events.on("counted", (event) => heard.push(["second", event]))
    events.on("ended", (event) => heard.push(["ended", event]))
    const event = { number: 1 }
    events.emit("counted", event)
    expect(heard).toEqual([
      ["first", event],
      ["second", event],
    ])
  })

  test("emitting without listeners does nothing", () => {
    expect(() => new Events<TestEvents>().emit("ended", { why: "done" })).not.toThrow()
  })

  test("one who stops hears no more, the others do", () => {
    const events = new Events<TestEvents>()
    const heard: string[] = []
    const stop = events.on("counted", ({ number }) => heard.push(`a${number}`))
    events.on("counted", ({ number }) => heard.push(`b${number}`))
    events.emit("counted", { number: 1 })
    stop()
    stop() // stopping again has no effect
    events.emit("counted", { number: 2 })
    expect(heard).toEqual(["a1", "b1", "b2"])
  })

  test("a listener may unsubscribe while it is called", () => {
    const events = new Events<TestEvents>()
    const heard: number[] = []
    const stop = events.on("counted", ({ number }) => {
      heard.push(number)
      stop()
    })
    events.emit("counted", { number: 1 })
    events.emit("counted", { number: 2 })
    expect(heard).toEqual([1])
  })

  test("a listener that throws disturbs neither the one who tells nor the others, and its error is not lost", async () => {
    const events = new Events<TestEvents>()
    const heard: number[] = []
    const problem = new Error("a listener's own fault")
    events.on("counted", () => {
      throw problem
    })
    events.on("counted", ({ number }) => heard.push(number))

    const surfaced = await surfacedDuring(() => events.emit("counted", { number: 1 }))

    expect(heard).toEqual([1])
    expect(surfaced).toEqual([problem])
  })
})

/** Uncaught errors of the process while `work` runs and right after it. */
async function surfacedDuring(work: () => void): Promise<unknown[]> {
  const others = process.listeners("uncaughtException")
  process.removeAllListeners("uncaughtException")
  const surfaced: unknown[] = []
  process.on("uncaughtException", (error) => surfaced.push(error))
  try {
    work()
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.removeAllListeners("uncaughtException")
    for (const other of others) process.on("uncaughtException", other)
  }
  return surfaced
}

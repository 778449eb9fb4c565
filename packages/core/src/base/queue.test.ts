import { describe, expect, it } from "vitest"
import { KeyedQueues, SerialQueue } from "./work.ts"

/** Work that records when it starts, and ends when `end` is called. */
function steps() {
  const seen: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const step = (name: string) => {
    gates.set(name, Promise.withResolvers<void>())
    return async () => {
      seen.push(`${name} begins`)
      await gates.get(name)!.promise
      seen.push(`${name} ends`)
      return name
    }
  }
  return { seen, step, end: (name: string) => gates.get(name)!.resolve() }
}

/** Lets all pending work continue. */
const rest = () => new Promise((resolve) => setImmediate(resolve))

describe("a queue", () => {
  it("runs one piece of work after another, in the order they were asked for", async () => {
    const queue = new SerialQueue()
    const { seen, step, end } = steps()
    const first = queue.run(step("a"))
    const second = queue.run(step("b"))
    end("b")
    await rest()
    expect(seen).toEqual(["a begins"])
    end("a")
    expect(await Promise.all([first, second])).toEqual(["a", "b"])
    expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends"])
  })

  it("gives a failure to its caller and not to the next one", async () => {
    const queue = new SerialQueue()
    const failing = queue.run(async () => {
      throw new Error("no")
    })
    const thrown = queue.run(() => {
      throw new Error("neither")
    })
    const next = queue.run(() => "yes")
    await expect(failing).rejects.toThrow("no")
    await expect(thrown).rejects.toThrow("neither")
    expect(await next).toBe("yes")
  })

  it("settles when what was asked for so far is over, also where it failed and no one waited", async () => {
    const queue = new SerialQueue()
    const { seen, step, end } = steps()
    void queue.run(() => Promise.reject(new Error("no one waits for it")))
    void queue.run(step("a"))
    const settled = queue.whenIdle().then(() => seen.push("settled"))
    void queue.run(step("b"))
    expect(queue.isIdle).toBe(false)
    end("a")
    await settled
    expect(seen).toEqual(["a begins", "a ends", "settled", "b begins"])
    end("b")
    await queue.whenIdle()
    expect(queue.isIdle).toBe(true)
  })
})

describe("queues", () => {
  it("take turns for the same key only", async () => {
    const queues = new KeyedQueues<string>()
    const { seen, step, end } = steps()
    const slow = queues.run("x", step("x1"))
    const after = queues.run("x", step("x2"))
    const other = queues.run("y", step("y1"))
    const settled = queues.whenIdle().then(() => seen.push("settled"))
    end("y1")
    await other
    expect(seen).toEqual(["x1 begins", "y1 begins", "y1 ends"])
    end("x1")
    end("x2")
    expect(await Promise.all([slow, after])).toEqual(["x1", "x2"])
    await settled
    expect(seen.at(-1)).toBe("settled")
  })

  it("begin again for a key that was idle, after a failure too", async () => {
    const queues = new KeyedQueues<object>()
    const key = {}
    await expect(queues.run(key, () => Promise.reject(new Error("no")))).rejects.toThrow("no")
    await rest()
    expect(await queues.run(key, () => 1)).toBe(1)
    expect(await queues.run(key, () => 2)).toBe(2)
  })
})

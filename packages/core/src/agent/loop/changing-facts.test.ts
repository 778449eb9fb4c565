/** Facts that change between two requests or processes: mode, date, instructions and introductions. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { ask, calling, resultsIn, type Scene, scene } from "../../../test/scripted-agent.ts"
import { manualClock } from "../../base/clock.ts"
import { engineOf } from "../../conversation/conversation.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { enterPlanMode, exitPlanMode } from "../../tools/session/plan-mode.ts"
import type { Toolset } from "../../tools/tool.ts"

const count = (request: ModelRequest | undefined, text: string) => JSON.stringify(request).split(text).length - 1
const PLAN_ON = "Plan mode is on"
const PLAN_OFF = "Plan mode is off"

/** Expects that everything before the new messages is identical, byte for byte. */
function expectPrefix({ requests }: Scene, earlier: number, later: number): void {
  const [before, after] = [requests.at(earlier)!, requests.at(later)!]
  expect(after.system).toEqual(before.system)
  expect(after.tools).toEqual(before.tools)
  const texts = (request: ModelRequest) => request.messages.flatMap(({ content }) => content as readonly object[])
  expect(texts(after).slice(0, texts(before).length)).toEqual(texts(before))
}

describe("JRN-10 the permission mode", () => {
  test("is in the journal from the first message on, and the model is informed once", async () => {
    const place = scene()
    const agent = await place.open([], { mode: "plan" })
    await ask(agent, "one")
    await ask(agent, "two")
    expect(engineOf(agent.conversation).views.context.session?.mode).toBe("plan")
    expect(count(place.requests[0], PLAN_ON)).toBe(1)
    expect(count(place.requests[1], PLAN_ON)).toBe(1)
    expect(JSON.stringify(place.requests[1]!.system)).not.toContain(PLAN_ON)
  })

  test("ask, the default, needs no message", async () => {
    const place = scene()
    await ask(await place.open([], { mode: "ask" }), "one")
    expect(count(place.requests[0], "permission mode")).toBe(0)
  })

  test.each(["plan", "accept-edits", "ask"] as const)("%s is the same after a resume", async (mode) => {
    const place = scene()
    const first = await place.open([], { mode })
    await ask(first, "one")
    await first.close()
    const second = await place.open([])
    expect(second.mode).toBe(mode)
    await ask(second, "two")
    expectPrefix(place, 0, 1)
    expect(count(place.requests[1], PLAN_ON)).toBe(mode === "plan" ? 1 : 0)
  })

  test("survives a process that dies right after it changed", async () => {
    const place = scene()
    const first = await place.open([])
    await ask(first, "one")
    await first.setMode("plan")
    await first.conversation.close() // waits for background work
    expect((await place.open([])).mode).toBe("plan")
  })

  test("PERM-1 bypass ends with a resume, and the person reads it", async () => {
    const place = scene()
    const first = await place.open([], { mode: "bypass" })
    await ask(first, "one")
    await first.close()
    const second = await place.open([])
    expect(second.mode).toBe("ask")
    expect(second.problems.join()).toContain("was in bypass mode")
    await ask(second, "two")
    expect(count(place.requests[1], "The permission mode is ask")).toBe(1)
    await second.close()
    const third = await place.open([], { mode: "bypass" })
    expect(third.mode).toBe("bypass")
    expect(third.problems).toEqual([])
  })

  test("an option overrides the journal and is recorded", async () => {
    const place = scene()
    const first = await place.open([], { mode: "plan" })
    await ask(first, "one")
    await first.close()
    const second = await place.open([], { mode: "ask" })
    expect(engineOf(second.conversation).views.context.session?.mode).toBe("ask")
    await ask(second, "two")
    expect(count(place.requests[1], PLAN_OFF)).toBe(1)
    expectPrefix(place, 0, 1)
  })

  test("a mode that does not exist is not taken from a journal", async () => {
    const place = scene()
    const first = await place.open([])
    await ask(first, "one")
    await engineOf(first.conversation).setMode("everything")
    await first.close()
    expect((await place.open([])).mode).toBe("accept-edits")
  })

  test("several changes before a request become one message", async () => {
    const place = scene()
    const agent = await place.open([], { mode: "ask" })
    await ask(agent, "one")
    await agent.setMode("accept-edits")
    await agent.setMode("plan")
    await agent.setMode("ask")
    await agent.setMode("plan")
    await ask(agent, "two")
    expect(count(place.requests[1], "ermission mode")).toBe(0)
    expect(count(place.requests[1], PLAN_ON)).toBe(1)
  })

  test("what tools change counts too: entered, approved, resumed", async () => {
    const place = scene()
    const options = {
      tools: [enterPlanMode, exitPlanMode],
      approvePlan: () => ({ approved: true }),
    } as const
    const first = await place.open([calling("EnterPlanMode"), "Looking."], { ...options, mode: "ask" })
    await ask(first, "one")
    expect(count(place.requests[1], PLAN_ON)).toBe(1) // stated in the result
    await first.close()
    const second = await place.open([calling("ExitPlanMode", { plan: "1. do" }), "Done."], options)
    expect(second.mode).toBe("plan")
    expect(resultsIn(await ask(second, "two"))[0]).toContain("approved")
    expect(engineOf(second.conversation).views.context.session?.mode).toBe("accept-edits")
    expect(count(place.requests.at(-1), "The permission mode is accept-edits")).toBe(1)
    expectPrefix(place, 1, 2)
    expectPrefix(place, 2, 3)
  })

  test("after plan mode was left, no compaction says that it is on", async () => {
    const place = scene()
    const agent = await place.open([], { mode: "plan" })
    await ask(agent, "one")
    await agent.setMode("ask")
    expect(agent.conversation.workState().plan.active).toBe(false)
    await ask(agent, "two")
    await agent.setMode("plan")
    expect(agent.conversation.workState().plan.active).toBe(true)
  })

  test("a rewind keeps the present mode, records it, and says it where the view no longer does", async () => {
    const place = scene()
    const agent = await place.open([], { mode: "ask" })
    await ask(agent, "one")
    const before = engineOf(agent.conversation).views.context.newest!.uuid
    await agent.setMode("plan")
    await ask(agent, "two")
    await agent.conversation.rewind(before)
    expect(agent.mode).toBe("plan")
    expect(engineOf(agent.conversation).views.context.session?.mode).toBe("plan")
    await ask(agent, "three")
    expect(count(place.requests.at(-1), PLAN_ON)).toBe(1)
  })
})

describe("CACHE-9 the date", () => {
  test("is reported with the first message and when the day has changed, never in the system prompt", async () => {
    const place = scene()
    const clock = manualClock(new Date("2026-11-15T23:00:00Z"))
    const first = await place.open([], { clock, mode: "ask" })
    await ask(first, "one")
    await ask(first, "two")
    expect(count(place.requests[1], "Today is 2026-11-15")).toBe(1)
    await first.close()
    clock.advance(2 * 60 * 60_000)
    const second = await place.open([], { clock })
    await ask(second, "three")
    await ask(second, "four")
    const last = place.requests.at(-1)
    expect([count(last, "Today is 2026-11-15"), count(last, "Today is 2026-11-16")]).toEqual([1, 1])
    expect(JSON.stringify(last!.system)).not.toContain("2026")
    expectPrefix(place, 1, 2)
  })

  test("work that goes on over midnight is not interrupted", async () => {
    const place = scene()
    const clock = manualClock(new Date("2026-11-15T23:00:00Z"))
    const agent = await place.open([calling("Nothing"), "Done."], { clock, mode: "ask" })
    for await (const event of agent.query("go")) if (event.type === "response") clock.advance(2 * 60 * 60_000)
    expect(count(place.requests[1], "Today is")).toBe(1)
  })

  test("an agent with a system prompt of its own is not given the date", async () => {
    const place = scene()
    await ask(await place.open([], { system: "Mine.", mode: "ask" }), "one")
    expect(count(place.requests[0], "Today is")).toBe(0)
  })
})

describe("CACHE-2 after a resume", () => {
  test("NEST-2 a changed instruction file is attached; the prompt stays as it was", async () => {
    const place = scene()
    writeFileSync(join(place.cwd, "AGENTS.md"), "Use tabs.")
    const first = await place.open([])
    await ask(first, "one")
    await first.close()
    writeFileSync(join(place.cwd, "AGENTS.md"), "Use spaces.")
    const second = await place.open([])
    await ask(second, "two")
    await ask(second, "three")
    expectPrefix(place, 0, 1)
    expect([count(place.requests[2], "Use tabs."), count(place.requests[2], "Use spaces.")]).toEqual([1, 1])
  })

  test("an unchanged one is not attached again", async () => {
    const place = scene()
    writeFileSync(join(place.cwd, "AGENTS.md"), "Use tabs.")
    for (const _ of [1, 2]) {
      const agent = await place.open([])
      await ask(agent, "go")
      await agent.close()
    }
    expect(count(place.requests[1], "Use tabs.")).toBe(1)
  })

  test("a prompt of the caller's own continues without being given again", async () => {
    const place = scene()
    const first = await place.open([], { system: "Mine." })
    await ask(first, "one")
    await first.close()
    await ask(await place.open([]), "two")
    expectPrefix(place, 0, 1)
  })

  test("changed instructions of a tool server are attached, unchanged ones are not", async () => {
    const place = scene()
    for (const instructions of ["Say please.", "Say please.", "Say thanks."]) {
      const agent = await place.open([], {
        tools: introducing({ type: "mcp_instructions", server: "s", instructions }),
      })
      await ask(agent, "go")
      await agent.close()
    }
    const last = place.requests.at(-1)
    expect([count(last, "Say please."), count(last, "Say thanks.")]).toEqual([1, 1])
  })
})

function introducing(introduction: Attachment): Toolset {
  const set: Toolset = {
    open: async () => ({ tools: [], introductions: [introduction], close: async () => undefined }),
    *[Symbol.iterator]() {
      yield set
    },
  }
  return set
}

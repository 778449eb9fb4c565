/** Dreams on a store without files: their input, and how another process sees, ends and erases them. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { changeFiles, FIGURES, memoryText, OTHERS, START } from "../../../test/dreams.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { manualClock } from "../../base/clock.ts"
import { memoryStore } from "../../journal/in-memory/store.ts"
import { CONSOLIDATE } from "../../journal/permit.ts"
import type { Store } from "../../journal/store.ts"
import { openBank } from "../../memory/bank.ts"
import type { Consolidate } from "./consolidate/consolidate.ts"
import { killDream, readDreamState } from "./dream-task.ts"
import { DreamController } from "./dreaming.ts"
import { eraseDreamTraces } from "./install.ts"
import { pastConversations } from "./transcripts.ts"

/** Time on the store's clock. */
let storeTime = new Date(0)

async function talked(
  store: Store,
  project: string,
  { id, time, text }: Readonly<Record<"id" | "time" | "text", string>>,
) {
  storeTime = new Date(time)
  const journal = await store.open({ project, id }, { access: "write", create: true })
  await journal.append(conversation().user(text).messages)
  await journal.close()
}

async function dreamer() {
  const temporary = scratchDirectory()
  vi.stubEnv("TMPDIR", temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const clock = manualClock(START)
  storeTime = new Date(START)
  const store = memoryStore({ clock: { now: () => storeTime } })
  const files = store.memories({ project: "app" })
  const stateFiles = store.memories({ project: "app", collection: "dreams" })
  const two = { "a.md": memoryText("Alpha", "Alpha is known."), "b.md": memoryText("Beta", "Beta is known.") }
  await files.install(Object.entries({ ...two, ...OTHERS }).map(([path, text]) => ({ path, text })))
  const project = join(temporary, "code")
  mkdirSync(project)
  const ground = { files, stateFiles, permit: store.permit({ project: "app", name: CONSOLIDATE }), clock }
  const past = pastConversations(store, async () => ["app"])
  const dreaming = (consolidate: Consolidate) =>
    new DreamController({ ...ground, bank: openBank({ files, clock }), past, project, consolidate })
  return { store, ground, files, stateFiles, clock, past, temporary, dreaming }
}

const ORDER = { figures: FIGURES, force: true } as const

describe("BEY-12 L6-3 the transcripts of a store without files", () => {
  test("are those of this project since the last dream, as lines, and no one else's", async () => {
    const { store, past, temporary } = await dreamer()
    await talked(store, "app", { id: "old", time: "2026-01-01T00:00:00.000Z", text: "long ago" })
    await talked(store, "app", { id: "new", time: "2026-04-01T00:00:00.000Z", text: "the ferry" })
    await talked(store, "app_other-owner", {
      id: "theirs",
      time: "2026-04-01T00:00:00.000Z",
      text: "a secret of theirs",
    })
    const directory = join(temporary, "transcripts")
    const since = new Date("2026-02-01T00:00:00Z")
    expect(await past.transcripts({ directory, since })).toEqual([directory])
    expect(readdirSync(directory)).toEqual(["new.jsonl"])
    const [line] = readFileSync(join(directory, "new.jsonl"), "utf8").trimEnd().split("\n")
    expect(JSON.parse(line!)).toMatchObject({ type: "user", message: { content: "the ferry" } })
    expect(await past.transcripts({ directory: join(temporary, "none"), since: new Date(START) })).toEqual([])
  })

  test("of a long conversation the newest lines are there, within the limit", async () => {
    const { store, past, temporary } = await dreamer()
    const journal = await store.open({ project: "app", id: "long" }, { access: "write", create: true })
    const built = conversation()
    for (let at = 0; at < 40; at++) built.user(`message ${at} ${"x".repeat(100_000)}`)
    await journal.append(built.messages)
    await journal.close()
    const directory = join(temporary, "transcripts")
    await past.transcripts({ directory })
    const text = readFileSync(join(directory, "long.jsonl"), "utf8")
    expect(text.length).toBeLessThanOrEqual(1024 * 1024)
    expect(text).toContain("message 39 ")
    expect(text).not.toContain("message 3 ")
  })
})

describe("BEY-12 L6-4 a dream on a store without files, for others", () => {
  test("is running while it has the right to; another handle sees it and ends it; the memory is as it was", async () => {
    const { ground, files, dreaming, clock, temporary } = await dreamer()
    const before = await files.read("a.md")
    const dream = dreaming(async (task) => {
      expect(existsSync(join(task.directory, "a.md"))).toBe(true)
      expect(await readDreamState(ground)).toMatchObject({ status: "running" })
      expect(await eraseDreamTraces("a.md", ground)).toBe(false)
      expect(await killDream(ground)).toMatchObject({ state: "asked" })
      const ended = new Promise((resolve) => task.signal.addEventListener("abort", resolve))
      clock.advance(5_000)
      await ended
      return { ended: "aborted", why: "", responses: [] }
    })
    expect(await dream.dream(ORDER)).toMatchObject({ state: "killed" })
    expect(await readDreamState(ground)).toMatchObject({ status: "killed" })
    expect(await killDream(ground)).toEqual({ state: "none", why: "No dream is running." })
    expect(await files.read("a.md")).toBe(before)
    expect(readdirSync(temporary, { recursive: true }).filter((name) => String(name).endsWith(".md"))).toEqual([])
  })

  test("that says it runs without the right to has died", async () => {
    const { ground, stateFiles } = await dreamer()
    const state = { id: "1", pid: process.pid, startedAt: START, phase: "starting", status: "running" }
    await stateFiles.install([{ path: "status.json", text: JSON.stringify(state) }])
    expect(await readDreamState(ground)).toMatchObject({
      status: "killed",
      message: expect.stringMatching(/process ended/),
    })
  })

  test("leaves nothing of an erased memory: not its state, not a change that waits", async () => {
    const { ground, stateFiles, dreaming, files } = await dreamer()
    const asking = dreaming(changeFiles(() => ({ "a.md": undefined, "b.md": undefined, "owl.md": undefined })))
    expect(await asking.dream(ORDER)).toMatchObject({ state: "pending" })
    expect((await asking.review())!.diff).toContain("Alpha is known.")
    expect(await eraseDreamTraces("a.md", ground)).toBe(true)
    expect(await stateFiles.read("pending.json")).toBeUndefined()
    expect(await stateFiles.read("status.json")).toBeUndefined()
    expect(await files.read("a.md")).toContain("Alpha is known.")
  })
})

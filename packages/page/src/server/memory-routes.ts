/** The memories of a project: what is remembered, each change as a diff, forgetting, and taking a change back. */
import type { ProjectBank } from "@strata/core"
import type { Hono } from "hono"
import { changeView, memoriesView } from "../draw/views/memories.ts"
import { shell } from "../draw/views/shell.ts"
import { said, sent } from "./answers.ts"

export interface MemoryPages {
  readonly base: string
  readonly memories: () => Promise<ProjectBank>
  readonly now: () => Date
}

export function addMemories(routes: Hono, { base, memories, now }: MemoryPages): void {
  routes.get("/memories", async (context) => {
    const bank = await memories()
    const [all, history, problems] = await Promise.all([bank.all(), bank.history(), bank.problems()])
    const main = memoriesView({ base, memories: all, history, problems, now: now() })
    return sent(context, shell({ title: "Memories", base, trail: [{ words: "Memories", path: "/memories" }], main }))
  })
  routes.get("/memories/changes/:id", async (context) => {
    const bank = await memories()
    const change = (await bank.history()).find(({ id }) => id === context.req.param("id"))
    if (!change) return context.notFound()
    const main = changeView({ base, change, diff: await bank.diff(change.id) })
    const trail = [{ words: "Memories", path: "/memories" }]
    return sent(context, shell({ title: `Change ${change.id}`, base, trail, main }))
  })
  routes.post("/memories/forget", async (context) => {
    const bank = await memories()
    const memory = (await bank.all()).find(({ file }) => file === context.req.query("file"))
    if (!memory) return said(context, "This memory is gone already. Nothing was changed.")
    if (await bank.isCommandRunning()) return said(context, COMMAND_RUNS)
    const change = await bank.change({ by: "person", why: "Forgotten on the page", removals: [memory.file] })
    return said(
      context,
      change ? `“${memory.name}” is forgotten. The history has it as change ${change.id}.` : "It is gone already.",
    )
  })
  routes.post("/memories/revert", async (context) => {
    const bank = await memories()
    const change = (await bank.history()).find(({ id }) => id === context.req.query("change"))
    if (!change) return said(context, "There is no such change. Nothing was changed.")
    if (await bank.isCommandRunning()) return said(context, COMMAND_RUNS)
    const reverted = await bank.revert(change.id, { by: "person", why: "Taken back on the page" })
    return said(
      context,
      reverted ? `Change ${change.id} is taken back, as change ${reverted.id}.` : "It is taken back already.",
    )
  })
}

const COMMAND_RUNS =
  "An agent is running a command in this project, and it must not speak for you. Nothing was changed. Wait for its end."

import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { restoreWithin } from "./compaction-context.ts"
import { restoreAttachments } from "./restore/restore.ts"

const LIMITS = { files: 5, file: 5_000, allFiles: 50_000, skill: 5_000, allSkills: 25_000 }
const { text: estimate } = createEstimator("claude-5")
const LINES = "a line of a file or of a skill that is in use\n".repeat(2_000)

/** Tokens of the content that is restored in a window of 200,000, by how much prompt, summary, facts and preserved messages take. */
async function tokensBack({ used, files, skills }: { used: number; files: number; skills: number }) {
  const builder = conversation()
  for (let n = 0; n < skills; n++) builder.attach({ type: "skill_content", name: `s${n}`, content: LINES })
  const reads = Array.from({ length: files }, (_, n) => [`/p/${n}`, { content: "", modifiedMs: 1, at: "" }] as const)
  const { attachments } = await restoreAttachments({
    messages: builder.messages,
    preserved: [],
    isComplete: () => true,
    frontier: { todos: [], plan: { active: false } },
    reads,
    excluded: { files: [], directories: [] },
    limits: restoreWithin(LIMITS, { max: 167_000 * 0.4, used }),
    estimate,
    now: new Date(0),
    readFile: async () => ({ text: LINES, modifiedMs: 2 }),
  })
  const total = (type: string) =>
    attachments
      .filter((each) => each.type === type && "content" in each)
      .reduce((sum, each) => sum + estimate((each as { content: string }).content), 0)
  return { file: total("file"), skill: total("skill_content") }
}

describe("L4-20 what is restored, where a usual prompt and the user's words have taken their part", () => {
  test("skills in use come back next to the files", async () => {
    const back = await tokensBack({ used: 40_000, files: 5, skills: 2 })
    expect(back.skill).toBeGreaterThan(4_000)
    expect(back.file).toBeGreaterThan(10_000)
    expect(back.file + back.skill).toBeLessThanOrEqual(167_000 * 0.4 - 40_000)
  })

  test("without skills the files have all the room, and without room there is nothing", async () => {
    expect((await tokensBack({ used: 40_000, files: 5, skills: 0 })).file).toBeGreaterThan(20_000)
    expect(await tokensBack({ used: 70_000, files: 5, skills: 2 })).toEqual({ file: 0, skill: 0 })
  })
})

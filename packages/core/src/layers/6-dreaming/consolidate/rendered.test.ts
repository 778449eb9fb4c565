import { expect, test } from "vitest"
import type { Memory } from "../../../memory/memory.ts"
import { dreamPrompt, dreamSystemPrompt } from "./consolidate.ts"

const memory = (file: string, more: Partial<Memory> = {}): Memory => ({
  ...{ file, name: file, description: `About ${file}`, type: "project", body: "" },
  ...{ created: "2026-01-01", confirmed: "2026-02-01", source: { saidBy: "user" }, basis: "said" },
  ...more,
})

test("L6-3 the prompt has four phases, and says what a dream may do", async () => {
  const prompt = dreamPrompt({
    directory: "/home/me/.strata/projects/-work-app/dreams/copies/1",
    project: "/work/app",
    journals: ["/home/me/.strata/projects/-work-app"],
    index: "- [Release process](release.md): how a release is made\n- [Gone](gone.md)\n",
    memories: [
      memory("release.md"),
      memory("old-release.md", { supersededBy: "release.md", confirmed: "2026-01-05" }),
      memory("cache.md", {
        failed: true,
        basis: "seen",
        source: { saidBy: "tool" },
        description: "{{turns}} of a $& cache",
      }),
    ],
    findings: ["MEMORY.md: its lines did not match the memories."],
    now: new Date("2026-05-01T12:00:00.000Z"),
    last: new Date("2026-04-20T12:00:00.000Z"),
    maxTurns: 30,
  })
  await expect(`${dreamSystemPrompt()}\n\n---\n\n${prompt}\n`).toMatchFileSnapshot("rendered/dream.md")
})

test("L6-3 long lists are cut, and an empty list is reported as empty", () => {
  const input = {
    directory: "/copy",
    project: "/p",
    journals: ["/j"],
    index: "",
    findings: [],
    now: new Date(0),
    maxTurns: 5,
  }
  expect(dreamPrompt({ ...input, memories: [] })).toContain("<index>\n(none)\n</index>")
  const many = Array.from({ length: 1_000 }, (_, n) => memory(`m-${n}.md`))
  expect(dreamPrompt({ ...input, memories: many })).toContain("… and 700 more.")
})

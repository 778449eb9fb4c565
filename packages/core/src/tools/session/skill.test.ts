import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { skillTool } from "./skill.ts"
import { loadSkills, skillListing } from "./skills.ts"

function skillDirectory(skills: Readonly<Record<string, string>>): string {
  const directory = scratchDirectory()
  for (const [name, text] of Object.entries(skills)) {
    mkdirSync(join(directory, name))
    writeFileSync(join(directory, name, "SKILL.md"), text)
  }
  return directory
}

const RELEASE = "---\nname: release\ndescription: >\n  How a release\n  is made\n---\n\n# Release\nTag it.\n"

describe("skills", () => {
  it("are listed by name, from frontmatter or directory; the earlier directory wins", async () => {
    const first = skillDirectory({ release: RELEASE, zebra: "No frontmatter." })
    const second = skillDirectory({ other: "---\nname: release\n---\nAnother.", apple: "---\n---\nEmpty." })
    writeFileSync(join(second, "README.md"), "not a skill")
    const { skills, problems } = await loadSkills([first, join(first, "missing"), second])
    expect(problems).toEqual([])
    expect(skills.every(({ isOwn }) => isOwn)).toBe(true)
    expect(skillListing(skills)).toEqual({
      type: "skill_listing",
      skills: [
        { name: "apple", description: "" },
        { name: "release", description: "How a release is made" },
        { name: "zebra", description: "" },
      ],
    })
    expect(skills[1]!.path).toBe(join(first, "release/SKILL.md"))
  })

  it("that cannot be used are reported and do not stop the others", async () => {
    const directory = skillDirectory({ good: "Fine.", broken: "---\nname: [\n---\n", large: "x".repeat(300_000) })
    const { skills, problems } = await loadSkills([directory])
    expect(skills.map(({ name }) => name)).toEqual(["good"])
    expect(problems.map(({ path }) => path)).toEqual([
      join(directory, "broken/SKILL.md"),
      join(directory, "large/SKILL.md"),
    ])
  })

  it("PERM-2: a project's directory that leads out of the project is left out", async () => {
    const outside = skillDirectory({ stolen: "Secret." })
    const project = scratchDirectory()
    symlinkSync(outside, join(project, "skills"))
    const { skills, problems } = await loadSkills([{ path: join(project, "skills"), within: project }])
    expect(skills).toEqual([])
    expect(problems).toEqual([
      { path: join(project, "skills"), why: expect.stringContaining("leads out of the project") },
    ])
  })

  it("PERM-2: a skill may be a link into the project or the home; one that leaves both is refused", async () => {
    const project = scratchDirectory()
    const [home, outside] = [skillDirectory({ mine: "Mine." }), skillDirectory({ stolen: "Secret." })]
    mkdirSync(join(project, "shared/ours"), { recursive: true })
    writeFileSync(join(project, "shared/ours/SKILL.md"), "Ours.")
    mkdirSync(join(project, "skills"))
    symlinkSync(join(project, "shared/ours"), join(project, "skills/ours"))
    symlinkSync(join(home, "mine"), join(project, "skills/mine"))
    symlinkSync(join(outside, "stolen"), join(project, "skills/stolen"))
    const { skills, problems } = await loadSkills([{ path: join(project, "skills"), within: project, links: [home] }])
    expect(skills.map(({ name, isOwn }) => [name, isOwn])).toEqual([
      ["mine", false],
      ["ours", false],
    ])
    expect(textIn(await call(skillTool(skills), { name: "ours" }))).toContain("is in use")
    expect(problems).toEqual([
      { path: join(project, "skills/stolen"), why: expect.stringContaining("outside the project") },
    ])
  })

  it("cannot fill the first request: few, with short descriptions", async () => {
    const many = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`skill-${i}`, "Fine."]))
    const long = `---\nname: long\ndescription: ${"x".repeat(100_000)}\n---\n`
    const { skills, problems } = await loadSkills([skillDirectory({ ...many, a: long })])
    expect(skills).toHaveLength(100)
    expect(skills.find(({ name }) => name === "long")!.description.length).toBeLessThan(1_100)
    expect(problems).toEqual([expect.objectContaining({ why: "only the first 100 of this directory count" })])
  })
})

describe("Skill", () => {
  it("attaches the instructions and answers shortly", async () => {
    const directory = skillDirectory({ release: RELEASE })
    const tool = skillTool((await loadSkills([directory])).skills)
    expect(await call(tool, { name: "release", args: "v2" })).toEqual({
      content: 'The skill "release" is in use. Its instructions follow.',
      attachments: [
        {
          type: "skill_content",
          name: "release",
          content: `Files it refers to are in ${join(directory, "release")}.\n\n# Release\nTag it.\n\nApply it to: v2`,
        },
      ],
    })
    expect(tool.question!({ name: "release" }, testContext())).toMatchObject({
      kind: "read",
      paths: [join(directory, "release/SKILL.md")],
    })
  })

  it("puts arguments in as they are, also those that look like patterns", async () => {
    const tool = skillTool((await loadSkills([skillDirectory({ a: "Do $ARGUMENTS, then $ARGUMENTS." })])).skills)
    const { attachments } = await call(tool, { name: "a", args: "$& $1 $ARGUMENTS" })
    expect(attachments![0]).toMatchObject({
      content: expect.stringContaining("Do $& $1 $ARGUMENTS, then $& $1 $ARGUMENTS."),
    })
  })

  it("answers an unknown name with those there are", async () => {
    const tool = skillTool((await loadSkills([skillDirectory({ a: "", b: "" })])).skills)
    expect(await call(tool, { name: "c" })).toEqual({
      content: 'There is no skill "c". There are: a, b.',
      isError: true,
    })
    expect(textIn(await call(skillTool([]), { name: "c" }))).toContain("No skills are installed.")
  })

  it("PERM-2: a file that leads out of its directory is refused, when it is listed and when it is used", async () => {
    const outside = join(scratchDirectory(), "secret.md")
    writeFileSync(outside, "secret")
    const directory = skillDirectory({ later: "Fine." })
    mkdirSync(join(directory, "escape"))
    symlinkSync(outside, join(directory, "escape/SKILL.md"))
    const { skills, problems } = await loadSkills([directory])
    expect(skills.map(({ name }) => name)).toEqual(["later"])
    expect(problems[0]!.why).toContain("leads out of its directory")

    const tool = skillTool(skills)
    rmSync(skills[0]!.path)
    symlinkSync(outside, skills[0]!.path)
    const result = await call(tool, { name: "later" })
    expect(result.isError).toBe(true)
    expect(textIn(result)).toContain("leads out of its directory")
  })
})

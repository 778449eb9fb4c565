/** Skill: adds the instructions of a skill to the conversation. */
import * as z from "zod/v4"
import { errorReason } from "../../base/errors.ts"
import type { Tool, ToolOutput } from "../tool.ts"
import { readSkill, type Skill } from "./skills.ts"

const inputSchema = z.object({
  name: z.string().describe("The name of the skill, as listed."),
  args: z.string().optional().describe("What to apply the skill to, if it needs something."),
})

const ARGUMENTS = "$ARGUMENTS"

/** Creates the Skill tool. The list is fixed for the conversation; a skill's text is read when it is used. */
export function skillTool(skills: readonly Skill[]): Tool<z.infer<typeof inputSchema>> {
  const byName = new Map(skills.map((skill) => [skill.name, skill]))
  return {
    name: "Skill",
    description:
      "Uses a skill: written instructions for a kind of task, made for this project or this person. If a listed skill fits the request, use it before you start. It adds its instructions to the conversation; follow them.",
    inputSchema,
    limitsItself: true,
    readOnly: true,
    question({ name }) {
      const skill = byName.get(name)
      return {
        kind: "read",
        summary: `use the skill ${name}`,
        subject: name,
        ...(skill ? { paths: [skill.path] } : {}),
      }
    },
    async execute({ name, args }) {
      const skill = byName.get(name)
      if (!skill) return failed(`There is no skill ${JSON.stringify(name)}. ${listed(skills)}`)
      let text: string
      try {
        text = await readSkill(skill)
      } catch (error) {
        return failed(`The skill ${JSON.stringify(name)} cannot be read: ${errorReason(error)}.`)
      }
      const content = `Files it refers to are in ${skill.directory}.\n\n${withArguments(text, args)}`
      return {
        content: `The skill ${JSON.stringify(name)} is in use. Its instructions follow.`,
        attachments: [{ type: "skill_content", name, content }],
      }
    },
  }
}

/** Inserts the arguments literally: `split` and `join` interpret no patterns. */
function withArguments(text: string, args: string | undefined): string {
  if (text.includes(ARGUMENTS)) return text.split(ARGUMENTS).join(args ?? "")
  return args ? `${text}\n\nApply it to: ${args}` : text
}

function listed(skills: readonly Skill[]): string {
  return skills.length === 0 ? "No skills are installed." : `There are: ${skills.map(({ name }) => name).join(", ")}.`
}

const failed = (content: string): ToolOutput => ({ content, isError: true })

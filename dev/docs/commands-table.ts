/** Writes the commands into packages/cli/README.md, from the descriptions of the help: `npm run commands`. A test compares the two. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { CommandDescription } from "../../packages/cli/src/command.ts"
import { GROUPS } from "../../packages/cli/src/descriptions.ts"

export const COMMANDS_PAGE = join(import.meta.dirname, "../../packages/cli/README.md")

const INTRODUCTION = `## Commands

\`npm run commands\` writes this list from the help. \`strata help COMMAND\` explains a command and its options.`

const commandRow = ({ name, operands, about }: CommandDescription) => {
  const call = ["strata", name, operands?.value].filter(Boolean).join(" ")
  return `| \`${call.replaceAll("|", "\\|")}\` | ${about} |`
}

const commandsSection = (): string =>
  [
    INTRODUCTION,
    ...GROUPS.map(
      ({ name, about, commands }) => `### \`strata help ${name}\`: ${about}

| command | what it does |
|---|---|
${commands.map(commandRow).join("\n")}`,
    ),
  ].join("\n\n")

/** The page with the section as the descriptions have it. */
export const withCommands = (page: string): string =>
  page.replace(/^## Commands\n(?:(?!## ).*\n)*/m, () => `${commandsSection()}\n\n`)

if (import.meta.main) writeFileSync(COMMANDS_PAGE, withCommands(readFileSync(COMMANDS_PAGE, "utf8")))

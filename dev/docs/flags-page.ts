/**
 * Writes docs/flags.md, the list of all switches and numeric settings, from their declarations: `npm run flags`. A test compares the two.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  CONFIGURATIONS,
  FIGURES,
  type Figure,
  SWITCHES,
  type Switch,
  type SwitchName,
} from "../../packages/core/src/settings/flag-names.ts"

export const FLAGS_PAGE = join(import.meta.dirname, "../../docs/flags.md")

const INTRODUCTION = `# All flags

\`npm run flags\` writes this page. [Settings](settings.md#flags) says how flags work and which ones people turn.

In the environment, a flag is its name in capitals after \`STRATA_\`: \`idle-gap\` is \`STRATA_IDLE_GAP\`.`

const figureRow = ({ name, value, unit, description }: Figure) =>
  `| \`${name}\` | ${`${value.toLocaleString("en-US")} ${unit}`.trim()} | ${description} |`

const switchRow = ({ name, on, description }: Switch) => {
  const figures = (CONFIGURATIONS[name as SwitchName] ?? []).map((figure) => `\`${figure}\``).join(", ")
  return `| \`${name}\` | ${on ? "on" : "off"} | ${description} | ${figures} |`
}

export const flagsPage = (): string => `${INTRODUCTION}

## Switches

| switch | default | what it does | figures that its flag may carry |
|---|---|---|---|
${SWITCHES.map(switchRow).join("\n")}

## Figures

The flag \`tool-result-limit.<tool>\` sets the limit for one tool's results.
A value out of range is refused, and a message names the range.

| figure | default | what it is |
|---|---|---|
${FIGURES.map(figureRow).join("\n")}
`

if (import.meta.main) writeFileSync(FLAGS_PAGE, flagsPage())

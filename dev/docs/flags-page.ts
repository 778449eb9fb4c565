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

/** The pages of the layers, by number. The description of a layer's switch begins with `layer N: `. */
const LAYERS = ["offloading", "clearing", "notes", "compaction", "memory", "dreaming", "agents"]
const LAYER = /^layer (\d): /

const INTRODUCTION = `# All flags

Look up a switch or a figure here; [settings](settings.md#flags) say how to set one. \`npm run flags\` writes this page.

In the environment, a flag is its name in capitals after \`STRATA_\`: \`idle-gap\` is \`STRATA_IDLE_GAP\`.
A value out of range is refused, and a message names the range.`

const carried = (name: string) => CONFIGURATIONS[name as SwitchName] ?? []

const figureLine = ({ name, value, unit, description }: Figure) =>
  `- \`${name}\`, ${`${value.toLocaleString("en-US")} ${unit}`.trim()}: ${description}`

const switchLines = ({ name, on, description }: Switch) => [
  `- \`${name}\`, ${on ? "on" : "off"}: ${description.replace(LAYER, "")}`,
  ...FIGURES.filter((figure) => carried(name).some((other) => other === figure.name)).map(
    (figure) => `  ${figureLine(figure)}`,
  ),
]

function layerSection(page: string, index: number): string {
  const ofLayer = SWITCHES.filter(({ description }) => LAYER.exec(description)?.[1] === String(index + 1))
  return [`### Layer ${index + 1}: [${page}](${page}.md)`, "", ...ofLayer.flatMap(switchLines)].join("\n")
}

export function flagsPage(): string {
  const others = SWITCHES.filter(({ description }) => !LAYER.test(description))
  const known = SWITCHES.flatMap(({ name }) => carried(name)) as readonly string[]
  return `${INTRODUCTION}

## Switches

Below a switch are the figures that its flag may carry.

${LAYERS.map(layerSection).join("\n\n")}

### Others

${others.flatMap(switchLines).join("\n")}

## Figures

The flag \`tool-result-limit.<tool>\` sets the limit for one tool's results.

${FIGURES.filter(({ name }) => !known.includes(name))
  .map(figureLine)
  .join("\n")}
`
}

if (import.meta.main) writeFileSync(FLAGS_PAGE, flagsPage())

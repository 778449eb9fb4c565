/** `strata config`: shows the settings for this directory, or what is wrong with them. */
import { SettingsError } from "@strata/core/internal/base/errors"
import { defaultRoot } from "@strata/core/internal/journal/file/layout"
import { forgetLimits } from "@strata/core/internal/journal/file/limits-file"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { CONFIG } from "../descriptions.ts"
import { counted } from "../display/numbers.ts"
import { visibleJson } from "../display/visible.ts"
import { effectiveConfiguration, settingsFiles } from "./effective.ts"
import { configurationPage, filesPart, problemLines } from "./page.ts"

const DONE = 0
const UNUSABLE = 1

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values } = readArguments(CONFIG, args)
  const place = { home: defaultRoot(env), cwd, env }
  if (values["forget-limits"]) return forget(place.home, { json: values.json, print: terminal.print })
  const show = (lines: readonly string[]) => terminal.print(`${lines.join("\n")}\n`)
  try {
    const configuration = await effectiveConfiguration(place)
    show(values.json ? [visibleJson(configuration, 2)] : configurationPage(configuration, terminal))
    return DONE
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const files = await settingsFiles(place)
    if (values.json) show([visibleJson({ files, problems: error.problems }, 2)])
    else show(filesPart(files, terminal))
    terminal.complain(
      `\nThese settings have mistakes. Strata does not start until they are fixed:\n${problemLines(error.problems, terminal.columns).join("\n")}\n`,
    )
    return UNUSABLE
  }
}

interface Forgetting {
  readonly json: boolean
  readonly print: (text: string) => void
}

/** Also what journals have learnt until now no longer counts. */
async function forget(home: string, { json, print }: Forgetting): Promise<number> {
  const forgotten = await forgetLimits(home, { at: new Date() })
  const words = `Forgot ${counted(forgotten.length, "learnt limit")}. The next requests use the window of the model and the settings again.`
  print(`${json ? visibleJson({ forgotten }, 2) : words}\n`)
  return DONE
}

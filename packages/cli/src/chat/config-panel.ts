/** `/config`: the settings in effect and where each comes from, as `strata config` prints them. */
import { configurationPage } from "../config/command.ts"
import { type Configuration, effectiveConfiguration } from "../config/effective.ts"
import { plainStyle } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import type { CommandTarget } from "./command-target.ts"

export async function showConfig(target: CommandTarget, argument: string): Promise<void> {
  const { root, cwd, env } = target.place
  const whole = await effectiveConfiguration({ home: root, cwd, env })
  const isWhole = argument === "all"
  const shown = isWhole ? whole : onlyChanged(whole)
  target.print("Configuration", (columns) => [
    ...configurationPage(shown, { style: plainStyle, columns }),
    ...(isWhole
      ? []
      : ["", ...wrapText("Only settings that differ from the defaults. /config all lists everything.", columns)]),
  ])
}

const isChanged = ({ origin }: { readonly origin: string }): boolean => origin !== "default"

const onlyChanged = (configuration: Configuration): Configuration => ({
  ...configuration,
  settings: configuration.settings.filter(isChanged),
  switches: configuration.switches.filter(isChanged),
  figures: configuration.figures.filter(isChanged),
})

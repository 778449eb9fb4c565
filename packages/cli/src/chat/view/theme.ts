/** Colours by role. The screen stays readable without them. */
import type { TextProps } from "ink"
import { createContext, useContext } from "react"

export type Role = "quiet" | "accent" | "good" | "bad" | "warning" | "code" | "added" | "removed"
export type Theme = Readonly<Record<Role, Pick<TextProps, "color" | "dimColor">>>

const COLOURED: Theme = {
  quiet: { dimColor: true },
  accent: { color: "cyan" },
  good: { color: "green" },
  bad: { color: "red" },
  warning: { color: "yellow" },
  code: { color: "cyan" },
  added: { color: "green" },
  removed: { color: "red" },
}

const PLAIN: Theme = { quiet: {}, accent: {}, good: {}, bad: {}, warning: {}, code: {}, added: {}, removed: {} }

export const themeFor = (hasColours: boolean): Theme => (hasColours ? COLOURED : PLAIN)

export const ThemeContext = createContext<Theme>(PLAIN)
export const useTheme = (): Theme => useContext(ThemeContext)

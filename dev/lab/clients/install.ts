/** Installs packages from the registry into a directory, with a cache and a home next to it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runChild } from "./child.ts"

const INSTALL_TIMEOUT_MS = 8 * 60_000
/** Environment variables that npm needs to reach a registry: its address, certificates and proxies. */
const NETWORK = /^(?:npm_config_registry|npm_config_cafile|NODE_EXTRA_CA_CERTS|(?:https?|no)_proxy)$/i

export interface Installation {
  readonly directory: string
  /** Installed version of the first package. */
  readonly version: string
}

/**
 * Installs the packages. Returns their directory, or a sentence with the reason why it failed. `flags` are added to the usual npm flags.
 */
export async function install(
  root: string,
  packages: readonly string[],
  flags: readonly string[] = [],
): Promise<Installation | string> {
  const directory = join(root, "clients", packages[0]!.replaceAll(/[^\w.-]+/g, "-"))
  const home = join(root, "npm-home")
  const name = nameOf(packages[0]!)
  if (existsSync(join(directory, "node_modules", name))) return { directory, version: versionOf(directory, name) }
  mkdirSync(directory, { recursive: true })
  mkdirSync(home, { recursive: true })
  writeFileSync(join(directory, "package.json"), '{ "private": true, "type": "module" }\n')
  const network = Object.entries(process.env).filter(([name]) => NETWORK.test(name)) as [string, string][]
  const words = [
    "install",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--cache",
    join(root, "npm-cache"),
    ...flags,
    ...packages,
  ]
  const { code, stderr } = await runChild(["npm", ...words], {
    cwd: directory,
    env: { ...Object.fromEntries(network), HOME: home },
    timeoutMs: INSTALL_TIMEOUT_MS,
  })
  if (code !== 0) return `not installed: ${lastLine(stderr.replaceAll(/^.*A complete log of this run.*$/gm, ""))}`
  return { directory, version: versionOf(directory, name) }
}

export const nameOf = (spec: string): string => spec.replace(/(?<=.)@[^/@]*$/, "")

export const versionOf = (directory: string, name: string): string => {
  const manifest = readFileSync(join(directory, "node_modules", name, "package.json"), "utf8")
  return (JSON.parse(manifest) as { version: string }).version
}

export const lastLine = (text: string): string =>
  text.trim().split("\n").at(-1)?.trim().slice(0, 200) || "no reason given"

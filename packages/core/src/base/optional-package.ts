/** Loads a package that only some applications install. Its name is a value here, so that bundlers do not demand it. */
import { StrataError } from "./errors.ts"

/** `who`: what needs it, with its verb, as in `MCP servers need`. */
export async function optionalPackage<Module>(name: string, who: string): Promise<Module> {
  try {
    return (await import(name)) as Module
  } catch (error) {
    throw new StrataError(`${who} the package ${name}. Install it: npm install ${name}`, {
      code: "package-missing",
      cause: error,
    })
  }
}

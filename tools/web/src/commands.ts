// The `railyard` command that does what was done on the page.

// A word that a shell reads as it is.
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const at = (lab: string) => ` --lab ${shellWord(lab)}`;

export const linkCommand = (lab: string, port: string, up: boolean) =>
  `railyard link ${up ? 'up' : 'down'} ${shellWord(port)}${at(lab)}`;
export const faultCommand = (lab: string, text: string) => `railyard fault add ${shellWord(text)}${at(lab)}`;
export const removeFaultCommand = (lab: string, name: string) => `railyard fault rm ${shellWord(name)}${at(lab)}`;
export const drainCommand = (lab: string, node: string, on: boolean) =>
  `railyard ${on ? 'drain' : 'undrain'} ${shellWord(node)}${at(lab)}`;
export const setCommand = (lab: string, sets: string[]) => `railyard set ${sets.map(shellWord).join(' ')}${at(lab)}`;
export const holdCommand = (lab: string, on: boolean) => `railyard ${on ? 'pause' : 'resume'}${at(lab)}`;

// The `railyard` command that does what was done on the page.

import type { Path } from './ways';

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
export const captureCommand = (lab: string, port: string, direction: 'both' | 'in' | 'out') =>
  `railyard capture ${shellWord(port)}${direction === 'both' ? '' : ` --${direction}`} -w ${shellWord(`${port.replace(':', '-')}.pcapng`)}${at(lab)}`;
export const stopCommand = (lab: string, name: string) => `railyard stop ${shellWord(name)}${at(lab)}`;
export const againCommand = (lab: string, name: string) => `railyard again ${shellWord(name)}${at(lab)}`;
export const reportCommand = (lab: string) => `railyard report ${shellWord(`${lab}-report`)}${at(lab)}`;
export const routesCommand = (lab: string, node: string) => `railyard routes ${shellWord(node)}${at(lab)}`;
export const doctorCommand = (lab: string) => `railyard doctor ${shellWord(lab)}`;
export const pausesCommand = (lab: string) => `railyard status --pauses${at(lab)}`;
export const pathCommand = (lab: string, p: Path) =>
  `railyard path ${shellWord(p.from)} ${shellWord(p.to)} --dscp ${p.flow.dscp}`
  + (p.flow.any_entropy ? ' --entropy 0' : p.flow.entropy !== null ? ` --entropy ${p.flow.entropy}`
    : ` --source-port ${p.flow.source_port} --destination-qp ${p.flow.destination_qp ?? 0}`) + at(lab);

/** A volume cannot be made as things are; trying again helps when what it is made of has changed. */
export class VolumeFault extends Error {
  override readonly name = 'VolumeFault';
}

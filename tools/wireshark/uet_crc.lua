-- CRC-32C (Castagnoli) for uet.lua: of ByteArrays after one another.

local table_of = {}
for octet = 0, 255 do
  local crc = octet
  for _ = 1, 8 do
    crc = bit.band(crc, 1) == 1 and bit.bxor(bit.rshift(crc, 1), 0x82F63B78) or bit.rshift(crc, 1)
  end
  table_of[octet] = crc
end
return function(parts)
  local crc = bit.bnot(0)
  for _, part in ipairs(parts) do
    for i = 0, part:len() - 1 do
      crc = bit.bxor(bit.rshift(crc, 8), table_of[bit.band(bit.bxor(crc, part:get_index(i)), 0xFF)])
    end
  end
  return bit.bnot(crc)
end


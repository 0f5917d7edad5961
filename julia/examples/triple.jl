# SPDX-License-Identifier: Apache-2.0
# Triples numbers in chunks, and adds them up.
using Kmm

function main()
    n = 100000
    rt = Runtime()
    a = KmmArray(rt, fill(14.0f0, n))
    b = KmmArray{Float32}(rt, n)
    total = KmmArray(rt, [0.0])
    i = Axis(1:n)

    parallel(rt, i, read(a[i]), write(b[i]), 3.0f0; chunk = n ÷ 10) do chunk, from, to, factor
        for k in chunk[1]
            to[k] = factor * from[k]
        end
    end
    parallel(rt, i, read(b[i]), reduce(+, total[1])) do chunk, from, sum
        for k in chunk[1]
            sum[1] += from[k]
        end
    end
    println(Array(b)[n], " ", Array(total)[1])
    close(rt)
end

main()

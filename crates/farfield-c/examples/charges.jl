# Potential of charges from Julia through ccall. FARFIELD_LIBRARY is the path of libfarfield_c.so.
const library = get(ENV, "FARFIELD_LIBRARY", "libfarfield_c")

"""
    coulomb(x, q; tolerance = 1e-6)

The potential of the charges `q` at the points `x`, a 3 x n matrix.
"""
function coulomb(x::Matrix{Float64}, q::Vector{Float64}; tolerance = 1e-6)
    size(x) == (3, length(q)) || throw(DimensionMismatch("x is $(size(x)), q has $(length(q)) numbers"))
    phi = similar(q)
    status = ccall((:farfield_coulomb_f64, library), Cint,
        (Csize_t, Ptr{Cdouble}, Ptr{Cdouble}, Csize_t, Ptr{Cdouble}, Cdouble, Ptr{Cdouble}, Ptr{Cdouble}),
        length(q), x, q, 0, C_NULL, tolerance, phi, C_NULL)
    status == 0 || error(unsafe_string(ccall((:farfield_message, library), Cstring, ())))
    phi
end

phi = coulomb([0.0 2.0; 0.0 0.0; 0.0 0.0], [1.0, 3.0])
@assert isapprox(phi, [1.5, 0.5]; rtol = 1e-6)
println(phi)
